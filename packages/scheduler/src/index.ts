export { Scheduler, type SchedulerOptions, type SchedulerParts } from './scheduler.ts'

export { type Empty, Scheduler, type SchedulerOptions, type SchedulerParts } from './scheduler.ts'

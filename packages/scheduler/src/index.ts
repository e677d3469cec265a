export { Scheduler } from './scheduler.ts'
export type { SchedulerOptions, SchedulerParts } from './scheduler-options.ts'

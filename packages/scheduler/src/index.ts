export { Scheduler } from './scheduler.ts'
export type { SchedulerOptions, SchedulerParts } from './scheduler-options.ts'
export { RevisitingScheduler, type RevisitingSchedulerOptions } from './visits/revisiting-scheduler.ts'
export { VisitPlanner, type VisitPlannerOptions } from './visits/visit-planner.ts'

export { type DashboardOptions, dashboardApp } from './dashboard-app.tsx'
export { type MetricsRoutesOptions, metricsRoutes } from './metrics/metrics-routes.ts'
export { type StartMetricsOptions, startMetrics } from './metrics/start-metrics.ts'
export type { Listening } from './serving/listen-on.ts'
export {
  DASHBOARD_PORT,
  type Dashboard,
  type StartDashboardOptions,
  startDashboard,
} from './start-dashboard.ts'

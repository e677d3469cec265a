export { type ApiOptions, apiRoutes } from './api/api-routes.ts'
export { type DashboardOptions, dashboardApp } from './dashboard-app.tsx'
export type { McpOptions } from './mcp/mcp-server.ts'
export { type ServeMcpOptions, serveMcp } from './mcp/serve-mcp.ts'
export { type MetricsRoutesOptions, metricsRoutes } from './metrics/metrics-routes.ts'
export { type StartMetricsOptions, startMetrics } from './metrics/start-metrics.ts'
export type { Listening } from './serving/listen-on.ts'
export {
  DASHBOARD_PORT,
  type Dashboard,
  type StartDashboardOptions,
  startDashboard,
} from './start-dashboard.ts'
export type { ObjectSchema, Schema, TypeName } from './verbs/schema.ts'
export type { Verb, VerbOfAll, VerbOfOne } from './verbs/verb.ts'
export { VERBS } from './verbs/verbs.ts'

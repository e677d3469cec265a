export { type DashboardOptions, dashboardApp } from './dashboard-app.tsx'
export {
  DASHBOARD_PORT,
  type Dashboard,
  type StartDashboardOptions,
  startDashboard,
} from './start-dashboard.ts'

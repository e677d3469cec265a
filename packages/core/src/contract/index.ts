export {
  type BudgetBookImplementation,
  budgetBookContract,
  type SharedBudgetBook,
} from './budget-book-contract.ts'
export { type CrawlRecordImplementation, crawlRecordContract } from './crawl-record-contract.ts'
export { downloadHandlerContract, type HandlerUnderTest } from './download-handler-contract.ts'
export {
  type DupeFilterImplementation,
  dupeFilterContract,
  withoutForget,
  withoutGivenBack,
  withoutHas,
  withoutSharedStore,
} from './dupefilter-contract.ts'
export { failureLedgerContract, type LedgerImplementation } from './failure-ledger-contract.ts'
export {
  type PageFormsImplementation,
  pageFormsContract,
  type SharedPageForms,
} from './page-forms-contract.ts'
export type { QueueUnderTest } from './queue-under-test.ts'
export {
  type QueueImplementation,
  requestQueueContract,
  withoutSlotNow,
} from './request-queue-contract.ts'
export { type RunLogImplementation, runLogContract, type SharedRunLog } from './run-log-contract.ts'
export {
  type SharedStartHosts,
  type StartHostsImplementation,
  startHostsContract,
} from './start-hosts-contract.ts'
export {
  type ContractTests,
  type Deviation,
  type Implementation,
  runContract,
  type TestRunner,
} from './suite.ts'
export { type SharedVisits, type VisitsImplementation, visitStoreContract } from './visit-store-contract.ts'

import { failingHostTests } from './failing-host.ts'

failingHostTests(250, ['turns'])

import { failingHostTests } from './failing-host.ts'

failingHostTests(100, { modes: ['turns'], isLong: false })

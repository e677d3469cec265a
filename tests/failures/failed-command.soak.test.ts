import { failingHostTests } from './failing-host.ts'

failingHostTests(1000, { modes: ['turns', 'job'], isLong: true })

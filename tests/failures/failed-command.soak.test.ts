import { failingHostTests } from './failing-host.ts'

failingHostTests(1000, ['turns', 'job'])

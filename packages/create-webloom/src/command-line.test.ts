import { expect, test } from 'vitest'
import { readCommandLine } from './command-line.ts'
import { UsageError } from './usage-error.ts'

const nothing = { yes: false, help: false, version: false }

test('the folder and the options', () => {
  expect(readCommandLine([], {})).toEqual(nothing)
  expect(readCommandLine(['crawler', '--template', 'site', '--yes'], {})).toEqual({
    ...nothing,
    folder: 'crawler',
    template: 'site',
    yes: true,
  })
  expect(readCommandLine(['-y', '-t', 'api'], {})).toEqual({ ...nothing, template: 'api', yes: true })
  expect(readCommandLine(['--help', '-V'], {})).toEqual({ ...nothing, help: true, version: true })
})

test('what npm took for its own, as it stood before --, counts; what was given to us comes first', () => {
  const env = { npm_config_yes: 'true', npm_config_template: 'site' }
  expect(readCommandLine(['crawler'], env)).toEqual({
    ...nothing,
    folder: 'crawler',
    template: 'site',
    yes: true,
  })
  expect(readCommandLine(['-t', 'api'], env).template).toBe('api')
  // An empty one is how npm says false.
  expect(readCommandLine([], { npm_config_yes: '', npm_config_template: '' })).toEqual(nothing)
})

test('an option that is not known, one without its value, and a second folder are told in one sentence', () => {
  const refused = (...argv: string[]) => expect(() => readCommandLine(argv, {}))
  const hint = '\n(create-webloom --help shows what there is)'
  refused('--tempalte', 'site').toThrow(new UsageError(`Unknown option '--tempalte'${hint}`))
  refused('--template').toThrow(new UsageError(`Option '-t, --template <value>' argument missing${hint}`))
  refused('one', 'two').toThrow(new UsageError(`expected one folder, and got 2: one two${hint}`))
})

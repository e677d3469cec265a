/** The two functions of a test runner that a contract suite needs; vitest's, node:test's and jest's fit. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  test(name: string, body: () => Promise<void> | void): unknown
}

/** A rule of the contract that an implementation does not follow, and why that loses nothing. */
export interface Deviation {
  /** The exact name of the test that fails. */
  readonly test: string
  readonly reason: string
  /** Chance decides whether the test fails: whether it passes is then not asked. Default: it always fails. */
  readonly isByChance?: true
}

export type ContractTests<Subject> = Readonly<Record<string, (subject: Subject) => Promise<void>>>

export interface Implementation<Subject> {
  readonly name: string
  /** Makes a fresh, opened subject for one test; `dispose` removes it. */
  create(): Promise<{ subject: Subject; dispose(): Promise<void> }>
  readonly deviations?: readonly Deviation[]
}

/** The longest that a test with a declared deviation may take: one that takes longer does not pass. */
const DEVIATION_MS_MAX = 5000

/**
 * Runs every test of a contract on an implementation. A test with a declared deviation must fail, unless that is up to chance: when it
 * passes, or when there is no such test, the deviation has gone stale.
 */
export function runContract<Subject>(
  { describe, test }: TestRunner,
  contract: string,
  tests: ContractTests<Subject>,
  { name, create, deviations = [] }: Implementation<Subject>,
): void {
  describe(`${name} keeps the ${contract} contract`, () => {
    for (const [title, body] of Object.entries(tests)) {
      const deviation = deviations.find((one) => one.test === title)
      if (!deviation) test(title, () => onFresh(create, body))
      else
        test(`deviates${deviation.isByChance ? ' by chance' : ''}: ${title}`, async () => {
          if ((await onFresh(create, (subject) => passes(body(subject)))) && !deviation.isByChance)
            throw new Error(`the test passes by now: drop the deviation “${deviation.reason}”`)
        })
    }
    test('each declared deviation names a test of the contract and its reason', () => {
      const stale = deviations.filter(({ test: title, reason }) => !(title in tests) || reason.length < 10)
      if (stale.length > 0) throw new Error(`stale deviations: ${JSON.stringify(stale)}`)
    })
  })
}

async function onFresh<Subject, Result>(
  create: Implementation<Subject>['create'],
  body: (subject: Subject) => Promise<Result>,
): Promise<Result> {
  const { subject, dispose } = await create()
  try {
    return await body(subject)
  } finally {
    await dispose()
  }
}

async function passes(testing: Promise<void>): Promise<boolean> {
  const tooLong = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => tooLong.resolve(false), DEVIATION_MS_MAX)
  const passed = testing.then(
    () => true,
    () => false,
  )
  return Promise.race([passed, tooLong.promise]).finally(() => clearTimeout(timer))
}

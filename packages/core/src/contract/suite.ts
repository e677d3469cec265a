/** The two functions of a test runner that a contract suite needs; vitest's, node:test's and jest's fit. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  test(name: string, body: () => Promise<void> | void): unknown
}

/** A rule of the contract that an implementation does not follow, and why that loses nothing. */
export interface Deviation {
  /** The exact name of the test that is left out. */
  readonly test: string
  readonly reason: string
}

export type ContractTests<Subject> = Readonly<Record<string, (subject: Subject) => Promise<void>>>

export interface Implementation<Subject> {
  readonly name: string
  /** A fresh, opened subject for one test, and how to dispose of it. */
  create(): Promise<{ subject: Subject; dispose(): Promise<void> }>
  readonly deviations?: readonly Deviation[]
}

/** Runs every test of a contract on an implementation. A deviation that names no test fails: it has gone stale. */
export function runContract<Subject>(
  { describe, test }: TestRunner,
  contract: string,
  tests: ContractTests<Subject>,
  { name, create, deviations = [] }: Implementation<Subject>,
): void {
  describe(`${name} keeps the ${contract} contract`, () => {
    for (const [title, body] of Object.entries(tests)) {
      if (deviations.some((deviation) => deviation.test === title)) continue
      test(title, async () => {
        const { subject, dispose } = await create()
        try {
          await body(subject)
        } finally {
          await dispose()
        }
      })
    }
    test('each declared deviation names a test of the contract and its reason', () => {
      const stale = deviations.filter(({ test: title, reason }) => !(title in tests) || reason.length < 10)
      if (stale.length > 0) throw new Error(`stale deviations: ${JSON.stringify(stale)}`)
    })
  })
}

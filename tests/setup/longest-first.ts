import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Longer than most others, by far: a run must not end with one of them alone on one core. */
const LONG = [
  /\/tests\/world\//,
  /\/tests\/[\w-]+\/(?:cluster|fail-over|jobdir|redis-rights)/,
  /\/packages\/queue\/src\/buckets\//,
  /\/packages\/(?:browser|dupefilter)\//,
  /\/tests\//,
]

/**
 * The long ones first, among the others the largest file: not every machine has the durations of an earlier run. Those that share
 * processes last, as a process that is shared ends where one that is not comes between.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((a, b) => groupOf(a) - groupOf(b) || sharing(a) - sharing(b) || rankOf(a) - rankOf(b))
  }
}

function groupOf({ project }: TestSpecification): number {
  return project.config.sequence.groupOrder
}

function sharing({ project }: TestSpecification): number {
  return project.config.isolate ? 0 : 1
}

function rankOf({ moduleId }: TestSpecification): number {
  const at = LONG.findIndex((pattern) => pattern.test(moduleId))
  return at < 0 ? LONG.length : at
}

import { posix } from 'node:path'
import { type SourceFile, sourceFiles } from './source-files.ts'

const SPECIFIER = /(?:\bfrom\s*|\bimport\s*\(?\s*)['"](\.[^'"]+)['"]/g

/** Circles of imports within a package, types included: whoever reads one file of a circle has to read all of them. */
export function circleProblems(root: string): string[] {
  const files = sourceFiles(root, 'packages/*/src/**/*.ts').filter(({ path }) => !/\.test\.ts$/.test(path))
  return [...Map.groupBy(files, ({ path }) => path.split('/')[1]!)].flatMap(([home, own]) => {
    return circlesOf(own).map((circle) => `packages/${home} has a circle of imports: ${circle.join(', ')}`)
  })
}

/** Sets of files that all lead to one another (Tarjan's strongly connected components), each by path. */
function circlesOf(files: readonly SourceFile[]): string[][] {
  const imports = new Map(files.map((file) => [file.path, importsOf(file)]))
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const circles: string[][] = []
  const visit = (path: string): number => {
    const number = order.size
    order.set(path, number)
    lowest.set(path, number)
    open.push(path)
    for (const next of imports.get(path)!) {
      if (!imports.has(next)) continue
      const reached = order.has(next) ? (open.includes(next) ? order.get(next)! : number) : visit(next)
      lowest.set(path, Math.min(lowest.get(path)!, reached))
    }
    if (lowest.get(path) === number) {
      const circle = open.splice(open.indexOf(path))
      if (circle.length > 1) circles.push(circle.sort())
    }
    return lowest.get(path)!
  }
  for (const path of imports.keys()) if (!order.has(path)) visit(path)
  return circles
}

function importsOf({ path, text }: SourceFile): string[] {
  return [...text.matchAll(SPECIFIER)].map(([, specifier]) => posix.join(posix.dirname(path), specifier!))
}

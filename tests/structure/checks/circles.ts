import { posix } from 'node:path'
import { packageSources, type SourceFile } from '../files/source-files.ts'

const SPECIFIER = /(?:\bfrom\s*|\bimport\s*\(?\s*)['"](\.[^'"]+)['"]/g

/** What leads where: files by path, or folders. */
type Arrows = ReadonlyMap<string, readonly string[]>

/** Circles of imports within a package, types included: whoever reads one file of a circle has to read all of them. */
export function circleProblems(root: string): string[] {
  return packagesOf(root).flatMap(([home, files]) => {
    const arrows = new Map(files.map((file) => [file.path, importsOf(file)]))
    return circlesOf(arrows).map((circle) => `packages/${home} has a circle of imports: ${circle.join(', ')}`)
  })
}

/**
 * Circles between the folders of a package: whoever reads one folder has to read the other as well. A folder within a
 * folder is a part of it, and may import it. Files beside `index.ts` stand for themselves.
 */
export function folderCircleProblems(root: string): string[] {
  return packagesOf(root).flatMap(([home, files]) => {
    const src = `packages/${home}/src`
    const folderOf = (path: string) => (posix.dirname(path) === src ? path : posix.dirname(path))
    const crossing = files.flatMap((file) =>
      importsOf(file)
        .map((target) => ({ from: folderOf(file.path), to: folderOf(target), path: file.path, target }))
        .filter(({ from, to }) => from !== to && !from.startsWith(`${to}/`)),
    )
    const arrows = Map.groupBy(crossing, ({ from }) => from)
    const targets = new Map([...arrows].map(([from, all]) => [from, all.map(({ to }) => to)]))
    for (const { to } of crossing) if (!targets.has(to)) targets.set(to, [])
    const below = (path: string) => path.slice(src.length + 1)
    return circlesOf(targets).map((circle) => {
      const ways = crossing.filter(({ from, to }) => circle.includes(from) && circle.includes(to))
      const shown = ways.map(({ path, target }) => `${below(path)} imports ${below(target)}`)
      return `${src} has a circle of folders: ${circle.map(below).join(', ')} (${[...new Set(shown)].join('; ')})`
    })
  })
}

function packagesOf(root: string): [string, SourceFile[]][] {
  return [...Map.groupBy(packageSources(root), ({ path }) => path.split('/')[1]!)]
}

/** Sets of what leads all to one another (Tarjan's strongly connected components), each sorted. */
function circlesOf(arrows: Arrows): string[][] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const open: string[] = []
  const circles: string[][] = []
  const visit = (name: string): number => {
    const number = order.size
    order.set(name, number)
    lowest.set(name, number)
    open.push(name)
    for (const next of arrows.get(name)!) {
      if (!arrows.has(next)) continue
      const reached = order.has(next) ? (open.includes(next) ? order.get(next)! : number) : visit(next)
      lowest.set(name, Math.min(lowest.get(name)!, reached))
    }
    if (lowest.get(name) === number) {
      const circle = open.splice(open.indexOf(name))
      if (circle.length > 1) circles.push(circle.sort())
    }
    return lowest.get(name)!
  }
  for (const name of arrows.keys()) if (!order.has(name)) visit(name)
  return circles
}

function importsOf({ path, text }: SourceFile): string[] {
  return [...text.matchAll(SPECIFIER)].map(([, specifier]) => posix.join(posix.dirname(path), specifier!))
}

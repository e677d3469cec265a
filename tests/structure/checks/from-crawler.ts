import { packageSources } from '../files/source-files.ts'

// From the head of a class to the head of its `fromCrawler`, and on to the end of that method.
const CLASS = /^(?:export )?(?:abstract )?class (\w+)/gm
const FROM_CRAWLER = /^ {2}static fromCrawler\b[\s\S]*?^ {2}\}$/gm

/**
 * Classes whose `fromCrawler` makes the class by its name: of a class that extends it, and that a setting names, the settings
 * would be read and the base class made.
 */
export function fromCrawlerProblems(root: string): string[] {
  return packageSources(root).flatMap(({ path, text }) => {
    const classes = [...text.matchAll(CLASS)]
    return [...text.matchAll(FROM_CRAWLER)].flatMap(({ 0: method, index }) => {
      const name = classes.findLast((head) => head.index < index)?.[1]
      if (name === undefined || !new RegExp(String.raw`\bnew ${name}\(`).test(method)) return []
      return [`${path}: fromCrawler of ${name} makes new ${name}(…) instead of new this(…)`]
    })
  })
}

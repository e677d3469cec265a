/** What a language model reads of the docs: `llms.txt`, as llmstxt.org describes it, and all pages as one text. */

export interface WrittenPage {
  readonly path: string
  readonly title: string
  readonly summary: string
  readonly text: string
}

export interface Part {
  readonly title: string
  readonly pages: readonly WrittenPage[]
}

/** A list of all pages by part, each with a link to its Markdown. */
export function llmsIndex(home: WrittenPage, parts: readonly Part[]): string {
  const lists = parts.map(({ title, pages }) => {
    const lines = pages.map(
      ({ title: name, path, summary }) => `- [${name}](${path})${summary && `: ${summary}`}`,
    )
    return `## ${title}\n\n${lines.join('\n')}\n`
  })
  return [
    `# ${home.title}\n`,
    `> ${home.summary}\n`,
    `[All pages as one text](llms-full.txt), and [how to begin](${home.path}).\n`,
    ...lists,
  ].join('\n')
}

/** Every page, each under a line that says where it is from. */
export function llmsFull(home: WrittenPage, parts: readonly Part[]): string {
  return [home, ...parts.flatMap(({ pages }) => pages)]
    .map(({ path, text }) => `<!-- ${path} -->\n\n${text.trim()}\n`)
    .join('\n')
}

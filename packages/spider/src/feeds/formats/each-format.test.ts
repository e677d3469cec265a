import { parse } from 'csv-parse/sync'
import { describe, test } from 'vitest'
import { itemFormatContract } from '../../../testing/item-format-contract.ts'
import { CsvFormat } from './csv-format.ts'
import { JsonArrayFormat, JsonLinesFormat } from './json-format.ts'
import { OwnFormat } from './own-format.ts'
import { XmlFormat } from './xml-format.ts'

const runner = { describe, test }
const linesOf = (text: string) => text.split('\n').slice(0, -1)

itemFormatContract(runner, {
  name: 'JsonLinesFormat',
  format: (reports) => new JsonLinesFormat({ reports }),
  read: (text) => linesOf(text).map((line) => JSON.parse(line)),
})

for (const indent of [null, 0, 2]) {
  itemFormatContract(runner, {
    name: `JsonArrayFormat, indent ${indent}`,
    format: (reports) => new JsonArrayFormat({ reports, indent }),
    read: (text) => JSON.parse(text),
  })
  itemFormatContract(runner, {
    name: `XmlFormat, indent ${indent}`,
    format: (reports) => new XmlFormat({ reports, indent }),
    read: readXml,
  })
}

itemFormatContract(runner, {
  name: 'CsvFormat',
  format: (reports) => new CsvFormat({ reports }),
  read: (text) => parse(text, { columns: true }),
})

itemFormatContract(runner, {
  name: 'OwnFormat',
  format: (reports) =>
    new OwnFormat({
      reports,
      exporter: { start: () => '<<\n', item: (item) => `${JSON.stringify(item)}\n`, end: () => '>>\n' },
    }),
  read: (text) =>
    linesOf(text)
      .slice(1, -1)
      .map((line) => JSON.parse(line)),
})

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', '#13': '\r' }

/** As an XML reader has it; a document of ours has no other entities. */
function readXml(text: string): { name: string; n: string }[] {
  const plain = (part: string) => part.replaceAll(/&([^;]+);/g, (_, entity: string) => ENTITIES[entity]!)
  return [...text.matchAll(/<item>\s*<name>([^<]*)<\/name>\s*<n>([^<]*)<\/n>\s*<\/item>/g)].map(
    ([, name, n]) => ({ name: plain(name!), n: plain(n!) }),
  )
}

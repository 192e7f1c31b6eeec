/** `npm run docs:http`: writes the tables of docs/reference/http.md from the code. */
import { readFile, writeFile } from 'node:fs/promises'
import { apiDocument } from './document.ts'
import { withTables } from './request-tables.ts'

const page = new URL('../../../docs/reference/http.md', import.meta.url)
await writeFile(page, withTables(await readFile(page, 'utf8'), await apiDocument()))

/** docs/reference/http.md says what the code says: every route and every code is compared. */
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { httpApi } from '../../src/http.ts'
import { HTTP_CODES, type ProblemCode, statusOf } from '../../src/http/problem.ts'
import { jobmill } from '../../src/index.ts'
import { VERSION } from '../../src/job/version.ts'
import { sqlite } from '../../src/sqlite.ts'
import { type Document, operationsOf } from './calls.ts'

const page = readFileSync(new URL('../../../../docs/reference/http.md', import.meta.url), 'utf8')
const rows = page.split('\n').filter((line) => line.startsWith('| `'))

test('every route is there, with its role and its name', async () => {
  const mill = jobmill({ store: sqlite(':memory:'), log: 'silent' })
  onTestFinished(async () => void (await mill.stop()))
  const api = httpApi(mill, { insecure: true })
  const document = (await (await api.fetch(new Request('http://x/api/openapi.json'))).json()) as Document
  expect(document.openapi).toBe('3.1.0')
  const routes = operationsOf(document).map(
    ({ method, path, role, name, operation }) =>
      `| \`${method} ${path}\` | ${role} | \`${name}\` | ${(operation as { summary?: string }).summary ?? ''} |`,
  )
  expect(rows.filter((row) => row.includes(' /'))).toEqual(routes)
})

test('every code of the door is there, with its status', () => {
  const codes = Object.entries(HTTP_CODES).map(
    ([code, sentence]) => `| \`${code}\` | ${statusOf(code as ProblemCode)} | ${sentence} |`,
  )
  expect(rows.filter((row) => !row.includes(' /'))).toEqual(codes)
})

test('the version that the API tells is that of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  expect(VERSION).toBe(version)
})

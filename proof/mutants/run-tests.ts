/** Runs the tests that must find the faults. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { allAtOnce } from './all-at-once.ts'
import { withCopy } from './copy.ts'
import type { TestedMutant } from './mutant.ts'
import { run } from './run.ts'

interface Report {
  readonly numFailedTests: number
  readonly numPassedTests: number
  readonly testResults: readonly { readonly message: string; readonly assertionResults: readonly Result[] }[]
  readonly output: string
}

interface Result {
  readonly fullName: string
  readonly status: string
  readonly failureMessages: readonly string[]
}

/**
 * Runs the tests of the mutants without a fault, because a test that always fails proves nothing. Returns the
 * files that failed twice.
 */
export async function failingWithoutFault(
  mutants: readonly TestedMutant[],
  url: string,
): Promise<ReadonlySet<string>> {
  const files = [...new Set(mutants.map(({ test }) => test.file))]
  const failing = new Set<string>()
  let seen = 0
  await allAtOnce(files, async (file) => {
    const names = [...new Set(mutants.flatMap(({ test }) => (test.file === file ? [test.name] : [])))]
    const look = (): Promise<string | null> => failureOf(file, names, url)
    const failure = (await look()) === null ? null : await look()
    if (failure !== null) failing.add(file)
    seen += 1
    console.log(`without a fault: ${seen} of ${files.length} test files, ${file}: ${failure ?? 'passes'}`)
  })
  return failing
}

async function failureOf(file: string, names: readonly string[], url: string): Promise<string | null> {
  const report = await withCopy(null, (folder) => reportOf(folder, { file, names: names.join('|'), url }))
  // One test may have several of the names.
  const missing = names.filter((name) => !hasPassed(report, name))
  if (report.numFailedTests === 0 && missing.length === 0) return null
  return `FAILS. ${failuresIn(report)}\nNo test passed with the name: ${missing.join(', ') || 'none'}\n${report.output}`
}

function hasPassed({ testResults }: Report, name: string): boolean {
  const pattern = new RegExp(name)
  return testResults.some(({ assertionResults }) =>
    assertionResults.some(({ status, fullName }) => status === 'passed' && pattern.test(fullName)),
  )
}

function failuresIn({ testResults }: Report): string {
  const said = testResults.flatMap(({ message, assertionResults }) => [
    message,
    ...assertionResults.flatMap(({ fullName, failureMessages }) =>
      failureMessages.map((failure) => `${fullName}: ${failure}`),
    ),
  ])
  return said.filter((text) => text !== '').join('\n')
}

/** The test that found the fault; null if it did not. */
export async function tested(mutant: TestedMutant, url: string): Promise<string | null> {
  const { file, name } = mutant.test
  const { numFailedTests, numPassedTests, output } = await withCopy(mutant, (folder) =>
    reportOf(folder, { file, names: name, url, more: ['--bail', '1'] }),
  )
  if (numFailedTests + numPassedTests === 0) throw new Error(`${mutant.name}: no test ran.\n${output}`)
  return numFailedTests === 0 ? null : `${file}, "${name}"`
}

interface Tests {
  readonly file: string
  /** A pattern. */
  readonly names: string
  readonly url: string
  readonly more?: readonly string[]
}

async function reportOf(folder: string, { file, names, url, more = [] }: Tests): Promise<Report> {
  const json = path.join(folder, 'report.json')
  const args = ['node_modules/vitest/vitest.mjs', 'run', file, '-t', names, '--reporter', 'json', ...more]
  // One server is enough: these faults do not depend on its version. `JOBMILL_LONG=all` runs every test, in
  // full and on both stores.
  const servers = { TEST_DATABASE_URL: url, TEST_DATABASE_URL_OLD: url, JOBMILL_LONG: 'all' }
  const { output } = await run(folder, [...args, '--outputFile', json], servers)
  try {
    return { ...(JSON.parse(readFileSync(json, 'utf8')) as Report), output: output.slice(-2_000) }
  } catch (cause) {
    throw new Error(`the tests did not run.\n${output.slice(-2_000)}`, { cause })
  }
}

// The database drivers are optional peers. In a project without them, the library says what to install.
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const library = join(root, 'packages/jobmill')

/** The sources, with the dependencies that npm installs without asking. */
function projectWithoutDrivers(): string {
  const folder = mkdtempSync(join(tmpdir(), 'jobmill-no-driver-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const path of ['package.json', 'src'])
    cpSync(join(library, path), join(folder, path), { recursive: true })
  const { dependencies } = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  for (const name of Object.keys(dependencies)) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), link)
  }
  return folder
}

interface Ended {
  readonly code: number | string | null | undefined
  readonly stdout: string
  readonly stderr: string
}

function run(cwd: string, ...args: string[]): Promise<Ended> {
  return new Promise((done) => {
    execFile(process.execPath, args, { cwd }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : error.code, stdout, stderr }),
    )
  })
}

const PROGRAM = `
import { sqlite } from './src/sqlite.ts'
import { postgres } from './src/postgres.ts'
for (const create of [() => sqlite('jobs.db'), () => postgres('postgres://localhost/app')]) {
  try {
    create()
  } catch ({ code, message }) {
    console.log(code, message)
  }
}
`

test('a store without its driver says what to install, in code and on the command line', async () => {
  const folder = projectWithoutDrivers()
  writeFileSync(join(folder, 'main.mjs'), PROGRAM)
  writeFileSync(join(folder, 'jobs.db'), '')
  const [program, command] = await Promise.all([
    run(folder, 'main.mjs'),
    run(folder, 'src/cli/main.ts', 'jobs', 'list'),
  ])
  expect(program).toMatchObject({
    code: 0,
    stdout: [
      'STORE_UNSUPPORTED the package better-sqlite3 is not installed. Run npm install better-sqlite3.\n',
      'STORE_UNSUPPORTED the package pg is not installed. Run npm install pg.\n',
    ].join(''),
  })
  expect(command).toMatchObject({
    code: 4,
    stdout: '',
    stderr: expect.stringContaining('Run npm install better-sqlite3') as string,
  })
})

// The database drivers and the server are optional. Without them, the library says what to install.
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const library = join(root, 'packages/jobmill')

/** The sources, with the dependencies that npm installs without asking, and these optional ones. */
function project(...installed: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'jobmill-project-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const path of ['package.json', 'src'])
    cpSync(join(library, path), join(folder, path), { recursive: true })
  const { dependencies } = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  for (const name of [...Object.keys(dependencies), ...installed]) {
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
  const folder = project()
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

const ENQUEUE = `
import { jobmill } from './src/index.ts'
import { sqlite } from './src/sqlite.ts'
const mill = jobmill({ store: sqlite('jobs.db') })
await mill.enqueue('work', null)
await mill.stop()
`

test('jobmill start without the server says what to install, and jobmill work needs no server', async () => {
  const folder = project('better-sqlite3')
  const config = [
    `import { defineJob } from './src/index.ts'`,
    `const job = defineJob({ kind: 'work', run: () => void process.kill(process.pid, 'SIGTERM') })`,
    `export default { jobs: [job] }`,
  ].join('\n')
  writeFileSync(join(folder, 'jobmill.config.mjs'), config)
  const command = (...args: string[]): Promise<Ended> => run(folder, 'src/cli/main.ts', ...args)
  expect(await command('start', 'jobmill.config.mjs')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('Run npm install jobmill-server') as string,
  })
  writeFileSync(join(folder, 'enqueue.mjs'), ENQUEUE)
  expect(await run(folder, 'enqueue.mjs')).toMatchObject({ code: 0 })
  expect(await command('work', 'jobmill.config.mjs', '--port', '0')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('"url":"http://127.0.0.1:') as string,
  })
})

/** Makes one file of each entry of a release, out of a commit: small, and without the drivers, which tests share. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = fileURLToPath(new URL('../..', import.meta.url))
const LIBRARY = 'packages/jobmill'
const DRIVERS = ['better-sqlite3', 'pg']

/** `empty-log` is started as a thread, by the name of its file. */
const ENTRIES: Readonly<Record<string, string>> = {
  jobmill: 'index.ts',
  sqlite: 'sqlite.ts',
  postgres: 'postgres.ts',
  'empty-log': 'store-sqlite/empty-log.ts',
}

export async function bundle(commit: string, folder: string): Promise<void> {
  // Inside of the repository, so that the drivers are found, and where neither git nor a check looks.
  mkdirSync(join(root, 'reports'), { recursive: true })
  const sources = mkdtempSync(join(root, 'reports/release-'))
  try {
    const archive = execFileSync('git', ['archive', commit, `${LIBRARY}/src`, `${LIBRARY}/package.json`], {
      cwd: root,
      maxBuffer: 64 * 1024 * 1024,
    })
    execFileSync('tar', ['-x', '-C', sources], { input: archive })
    const library = join(sources, LIBRARY)
    installOwn(library)
    await buildInto(library, folder)
  } finally {
    rmSync(sources, { recursive: true, force: true })
  }
}

/** What the release imported beside the drivers, in the versions of that time. */
function installOwn(library: string): void {
  const file = join(library, 'package.json')
  const { dependencies } = JSON.parse(readFileSync(file, 'utf8')) as { dependencies: Record<string, string> }
  const own = Object.entries(dependencies).filter(([name]) => !DRIVERS.includes(name))
  writeFileSync(
    file,
    JSON.stringify({ type: 'module', private: true, dependencies: Object.fromEntries(own) }),
  )
  execFileSync('npm', ['install', '--prefix', library, '--no-package-lock', '--loglevel=error'], {
    cwd: library,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

async function buildInto(library: string, folder: string): Promise<void> {
  const input = Object.entries(ENTRIES)
    .map(([name, file]) => [name, join(library, 'src', file)] as const)
    .filter(([, file]) => existsSync(file))
  await build({
    root: library,
    configFile: false,
    logLevel: 'warn',
    ssr: { noExternal: true, external: DRIVERS },
    build: {
      ssr: true,
      target: 'node22',
      minify: true,
      outDir: folder,
      emptyOutDir: true,
      rolldownOptions: {
        input: Object.fromEntries(input),
        output: { entryFileNames: '[name].mjs', chunkFileNames: 'shared-[name].mjs' },
      },
    },
  })
}

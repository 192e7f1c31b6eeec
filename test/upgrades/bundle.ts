/** Makes one file of each entry of a release, out of a commit: small, and without what others wrote, which is installed. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = fileURLToPath(new URL('../..', import.meta.url))
const LIBRARY = 'packages/jobmill'
/** `empty-log` is started as a thread, by the name of its file. */
const ENTRIES: Readonly<Record<string, string>> = {
  jobmill: 'index.ts',
  sqlite: 'sqlite.ts',
  postgres: 'postgres.ts',
  'empty-log': 'store-sqlite/empty-log.ts',
}

export async function bundle(commit: string, folder: string): Promise<void> {
  // Inside of the repository, so that what it imports is found, and where neither git nor a check looks.
  mkdirSync(join(root, 'reports'), { recursive: true })
  const sources = mkdtempSync(join(root, 'reports/release-'))
  try {
    const archive = execFileSync('git', ['archive', commit, `${LIBRARY}/src`, `${LIBRARY}/package.json`], {
      cwd: root,
      maxBuffer: 64 * 1024 * 1024,
    })
    execFileSync('tar', ['-x', '-C', sources], { input: archive })
    await buildInto(join(sources, LIBRARY), folder)
  } finally {
    rmSync(sources, { recursive: true, force: true })
  }
}

async function buildInto(library: string, folder: string): Promise<void> {
  const input = Object.entries(ENTRIES)
    .map(([name, file]) => [name, join(library, 'src', file)] as const)
    .filter(([, file]) => existsSync(file))
  const { dependencies } = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  await build({
    root: library,
    configFile: false,
    logLevel: 'warn',
    ssr: { noExternal: true, external: Object.keys(dependencies) },
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

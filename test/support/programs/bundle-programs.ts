// Bundles the programs that tests and proofs start as processes, once per run. A short-lived process spends
// most of its time on finding and compiling 300 small files; from a bundle it starts in a third of the time.
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { aliases, OUR_PACKAGES } from './our-packages.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const cache = join(root, 'node_modules/.cache/programs')
const SOURCES = 'packages/jobmill/src'
const TESTS = 'packages/jobmill/test'
const DAY_MS = 86_400_000

/** Without the extension: `.ts` in the sources, `.js` in the bundle, under the same path. */
const ENTRIES: readonly string[] = [
  ...Object.values(OUR_PACKAGES).map((path) => `packages/${path.replace(/\.ts$/, '')}`),
  ...['jobmill', 'telegram', 'uploads'].map((name) => `packages/${name}/src/cli/main`),
  `${TESTS}/processes/alert-process`,
  `${TESTS}/processes/mill-process`,
  `${TESTS}/processes/opening-process`,
  `${TESTS}/processes/parsers-process`,
  `${TESTS}/processes/store-process`,
  `${TESTS}/sqlite/cluster-process`,
  `${TESTS}/cli/json-log-child`,
  'packages/telegram/test/support/gateway-child',
  'packages/uploads/test/support/dying',
  'packages/uploads/test/client/support/puller-child',
  'packages/uploads/test/client/support/inbox-child',
  'proof/chaos/steps/worker',
]

/**
 * A thread is started by the name of its file, next to the code that starts it. In the bundle that code is in
 * a shared chunk.
 */
const SHARED = 'shared'
const THREAD = 'store-sqlite/file/empty-log'

/** Returns the folder. Does nothing when the sources have not changed since the last bundle. */
export async function bundlePrograms(): Promise<string> {
  const folder = join(
    cache,
    keyOf([
      ...['jobmill', 'conformance', 'server', 'tables', 'telegram', 'uploads'].map(
        (name) => `packages/${name}/src`,
      ),
      ...['processes', 'sqlite', 'cli'].map((of) => `${TESTS}/${of}`),
      'packages/telegram/test/support',
      'packages/uploads/test/support',
      'packages/uploads/test/client/support',
      'proof/chaos/steps',
      'proof/cluster',
    ]),
  )
  if (existsSync(folder)) utimesSync(folder, new Date(), new Date())
  else await make(folder)
  forgetOld()
  return folder
}

async function make(folder: string): Promise<void> {
  mkdirSync(cache, { recursive: true })
  const unfinished = mkdtempSync(join(cache, 'unfinished-'))
  const entries = ENTRIES.map((entry) => [entry, join(root, `${entry}.ts`)] as const)
  const thread = [
    `${SHARED}/${THREAD.slice(THREAD.lastIndexOf('/') + 1)}`,
    join(root, SOURCES, `${THREAD}.ts`),
  ] as const
  await build({
    root,
    configFile: false,
    resolve: { alias: aliases(join(root, 'packages')) },
    logLevel: 'warn',
    // Bundle dependencies too: a library of hundreds of files takes half a second to load. Native modules
    // stay outside.
    ssr: { noExternal: true, external: ['better-sqlite3', 'pg', 'grammy'] },
    build: {
      ssr: true,
      target: 'node22',
      minify: false,
      outDir: unfinished,
      rolldownOptions: {
        input: Object.fromEntries([...entries, thread]),
        output: { entryFileNames: '[name].js', chunkFileNames: `${SHARED}/[name]-[hash].js` },
      },
    },
  })
  try {
    renameSync(unfinished, folder)
  } catch (error) {
    // Another run has made the same bundle first.
    rmSync(unfinished, { recursive: true })
    if (!existsSync(folder)) throw error
  }
}

/** A hash of every file in these folders. */
function keyOf(folders: readonly string[]): string {
  const hash = createHash('sha256').update(`${ENTRIES.join()} with libraries 2`)
  for (const folder of folders)
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const path = join(entry.parentPath, entry.name)
      const { size, mtimeMs } = statSync(path)
      hash.update(`${relative(root, path)} ${size} ${mtimeMs}\n`)
    }
  return hash.digest('hex').slice(0, 16)
}

function forgetOld(): void {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name)
    if (Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > DAY_MS)
      rmSync(path, { recursive: true, force: true })
  }
}

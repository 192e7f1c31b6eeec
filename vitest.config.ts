// How `npm test` runs: every test file of the packages and of the repository, against real databases.
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { inFull } from './test/support/in-full.ts'
import { keepTemporaryFilesInMemory } from './test/support/in-memory.ts'
import { LongestFirst } from './test/support/longest-first.ts'
import { aliases } from './test/support/our-packages.ts'

// Started by hand, the tests would run on whatever Node is installed, and the SQLite driver crashes on an old one.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 14)) {
  throw new Error(`the tests need Node 22.14, and this is ${process.version}: use "npm test" or "npx vitest"`)
}

keepTemporaryFilesInMemory()

const packages = fileURLToPath(new URL('./packages', import.meta.url))

// The report says which promises are proven, so a run of some tests must not take the place of one of all.
const isWholeRun = process.argv.slice(2).join(' ') === 'run' && process.env['JOBMILL_TESTS'] !== 'fast'

// Tests start hundreds of processes on the sources: what Node makes of a file is kept for the next one, which starts in half the time.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
  new URL('./node_modules/.cache/compiled', import.meta.url),
)

/**
 * They share processes, since to load the sources anew takes longer than many of them take: what a file leaves to the next is found by no-leaks.ts. Tests of parts
 * by themselves, which need no database, and those of whole mills on both stores. All others have a process for each file.
 */
const PURE = [
  'packages/jobmill/test/{unit,upkeep,enqueue,work}/*.test.ts',
  'packages/dashboard/test/{unit,job}/*.test.ts',
  'packages/jobmill/test/work/handlers/{demo-echo,free-list,line-splitter,tail}.test.ts',
  'packages/jobmill/test/conformance/{known-gaps,oracle}.test.ts',
  'test/{bench-report,chaos,deploy-metrics,guides,history,lockfile,mutants,old-node,proxy,repository,soak,words}.test.ts',
]
const TOGETHER = [
  'packages/jobmill/test/{runtime,limits,kit,observe,http,admin,cluster,postgres,hostile,cli,model,sqlite,transfer}/*.test.ts',
  'packages/jobmill/test/work/handlers/{command,command-stop,pool-service,process-group,worker-pool}.test.ts',
  'test/deploy.test.ts',
  'packages/{telegram,uploads,tables}/test/**/*.test.ts',
  'packages/dashboard/test/*.test.ts',
]

/**
 * Left to the night when everything is run: the statements of PostgreSQL explained at 100,000 rows, an upload that is cut off at each of its steps, and the
 * figures of the oracle, which are those of both stores.
 */
const NIGHTLY = [
  'packages/jobmill/test/postgres/plans{,-cluster}.test.ts',
  'packages/uploads/test/cut-off.test.ts',
  'packages/jobmill/test/observe/exact-oracle.test.ts',
]

/** `npm run test:fast`: what needs no server, the store on SQLite, and a mill on PostgreSQL. */
const FAST = [
  'packages/jobmill/test/sqlite/*.test.ts',
  'packages/jobmill/test/conformance/{sqlite,oracle}.test.ts',
  'packages/jobmill/test/kit/postgres.test.ts',
]
const isFast = process.env['JOBMILL_TESTS'] === 'fast'

export default defineConfig({
  resolve: {
    // Tests that import the package by its name get the sources, like every other test.
    alias: aliases(packages),
  },
  test: {
    // Separate processes: a native driver that crashes takes one file down, not the run.
    pool: 'forks',
    // Many tests wait for processes and servers rather than for a core. Left to itself, vitest would use one of two.
    maxWorkers: Math.max(2, Math.ceil(availableParallelism() * 1.5)),
    sequence: { sequencer: LongestFirst },
    setupFiles: ['test/support/no-leaks.ts', 'test/support/fixed-seed.ts'],
    // Bundles of earlier releases: Node runs them as they are.
    server: { deps: { external: [/\/test\/fixtures\/releases\//] } },
    // What is waited for comes when it comes, also on a busy machine: only what never comes takes this long.
    testTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 180_000,
    projects: [
      { extends: true, test: { name: 'pure', include: PURE, isolate: false } },
      {
        extends: true,
        test: {
          name: 'together',
          include: isFast ? [] : TOGETHER,
          exclude: isWholeRun ? inFull([], NIGHTLY) : [],
          isolate: false,
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'real',
          include: isFast ? FAST : ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: isFast ? [] : [...PURE, ...TOGETHER, '**/node_modules/**'],
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
    ],
    reporters: isWholeRun
      ? ['default', ['json', { outputFile: 'reports/tests.json' }], './test/support/closing-line-reporter.ts']
      : ['default', './test/support/closing-line-reporter.ts'],
  },
})

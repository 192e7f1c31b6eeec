// Configures `npm test`: all test files of the packages and of the repository, against real databases.
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { inFull } from './test/support/suite/in-full.ts'
import { keepTemporaryFilesInMemory } from './test/support/suite/in-memory.ts'
import { LongestFirst } from './test/support/suite/longest-first.ts'
import { aliases } from './test/support/programs/our-packages.ts'

// Without npm, the tests run on the installed Node, and the SQLite driver crashes on an old one.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 14)) {
  throw new Error(`the tests need Node 22.14, and this is ${process.version}: use "npm test" or "npx vitest"`)
}

keepTemporaryFilesInMemory()

const packages = fileURLToPath(new URL('./packages', import.meta.url))

// Only a run of all tests writes the report from which `npm run guarantees` reads what is proven.
const isWholeRun = process.argv.slice(2).join(' ') === 'run' && process.env['JOBMILL_TESTS'] !== 'fast'

// Tests start hundreds of processes on the sources. A shared compile cache halves their start-up time.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
  new URL('./node_modules/.cache/compiled', import.meta.url),
)

/**
 * Test files that share processes, because loading the sources again takes longer than many of them run;
 * no-leaks.ts finds what a file leaves behind. PURE are unit tests without a database, TOGETHER are tests of
 * whole mills on both stores. Every other file gets its own process.
 */
const PURE = [
  'packages/jobmill/test/{unit,upkeep,enqueue,work,dispatch}/*.test.ts',
  'packages/dashboard/test/{unit,job}/*.test.ts',
  'packages/jobmill/test/work/handlers/{demo-echo,free-list,line-splitter,tail}.test.ts',
  'packages/conformance/test/*.test.ts',
  'test/{error-groups,lockfile,old-node,repository,words}.test.ts',
  'test/bench/*.test.ts',
  'test/deploy/metrics.test.ts',
  'test/docs/{options,pages}.test.ts',
  'test/proof/{chaos,history,mutants,proxy,soak}.test.ts',
]
const TOGETHER = [
  'packages/jobmill/test/{runtime,limits,kit,observe,admin,cluster,postgres,hostile,cli,model,probes,sqlite,transfer}/*.test.ts',
  'packages/jobmill/test/work/handlers/{command,command-stop,pool-service,process-group,worker-pool}.test.ts',
  'test/deploy/deploy.test.ts',
  'packages/{server,telegram,uploads,tables}/test/**/*.test.ts',
  'packages/dashboard/test/*.test.ts',
]

/**
 * Skipped in `npm test` and run nightly, because other tests cover their subjects with fewer cases: plans of
 * PostgreSQL at 100,000 rows, an upload interrupted at each step, the metrics of the oracle, deep chains of
 * children, all hostile inputs in little memory, and details of tables and charts in a browser.
 */
const NIGHTLY = [
  'packages/jobmill/test/postgres/plans{,-cluster,-steps}.test.ts',
  'packages/jobmill/test/sqlite/child-chains.test.ts',
  'packages/jobmill/test/hostile/memory.test.ts',
  'packages/uploads/test/cut-off.test.ts',
  'packages/telegram/test/lost-process.test.ts',
  'packages/jobmill/test/observe/exact-oracle.test.ts',
  'packages/dashboard/test/{capacity,charts,fits,lanes,loading,sorting}.test.ts',
]

/** `npm run test:fast`: tests without a server, the SQLite store, and a mill on PostgreSQL. */
const FAST = [
  'packages/jobmill/test/sqlite/*.test.ts',
  'packages/jobmill/test/conformance/sqlite.test.ts',
  'packages/jobmill/test/kit/postgres.test.ts',
]
const isFast = process.env['JOBMILL_TESTS'] === 'fast'

export default defineConfig({
  resolve: {
    // Tests that import a package by its name get its sources.
    alias: aliases(packages),
  },
  test: {
    // With separate processes, a crash of a native driver fails one file, not the run.
    pool: 'forks',
    // Many tests wait for processes and servers rather than for a core. By default, vitest would use only one
    // of two cores.
    maxWorkers: Math.max(2, Math.ceil(availableParallelism() * 1.5)),
    sequence: { sequencer: LongestFirst },
    setupFiles: ['test/support/suite/no-leaks.ts', 'test/support/suite/fixed-seed.ts'],
    // Node runs the bundles of earlier releases unchanged.
    server: { deps: { external: [/\/test\/fixtures\/releases\//] } },
    // Generous for busy machines: only a test that hangs takes this long.
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
          globalSetup: ['test/support/suite/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'real',
          include: isFast ? FAST : ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: isFast ? NIGHTLY : [...PURE, ...TOGETHER, '**/node_modules/**'],
          globalSetup: ['test/support/suite/global-setup.ts'],
        },
      },
    ],
    reporters: isWholeRun
      ? [
          'default',
          ['json', { outputFile: 'reports/tests.json' }],
          './test/support/suite/closing-line-reporter.ts',
        ]
      : ['default', './test/support/suite/closing-line-reporter.ts'],
  },
})

// Compiles a program that imports every entry of `jobmill` as a user would: against the published
// declarations, with `skipLibCheck: false`, and with no optional peer installed. So neither store needs the
// types of its driver.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const library = join(root, 'packages/jobmill')

/** Entries whose subject is an optional peer. */
const NEED_A_PEER = ['./opentelemetry']

const manifest = /** @type {{ dependencies: Record<string, string>, exports: Record<string, unknown> }} */ (
  JSON.parse(readFileSync(join(library, 'package.json'), 'utf8'))
)
const folder = mkdtempSync(join(tmpdir(), 'jobmill-consumer-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const copy = join(folder, 'node_modules/jobmill')
mkdirSync(copy, { recursive: true })
cpSync(join(library, 'package.json'), join(copy, 'package.json'))
cpSync(join(library, 'dist'), join(copy, 'dist'), { recursive: true })
for (const name of ['@types/node', ...Object.keys(manifest.dependencies)]) {
  mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true })
  symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
}

const entries = Object.keys(manifest.exports).filter(
  (entry) => entry !== './package.json' && !NEED_A_PEER.includes(entry),
)
writeFileSync(
  join(folder, 'main.ts'),
  entries.map((entry, nth) => `export * as entry${nth} from 'jobmill${entry.slice(1)}'`).join('\n'),
)
writeFileSync(
  join(folder, 'tsconfig.json'),
  JSON.stringify({
    compilerOptions: {
      target: 'es2024',
      module: 'nodenext',
      types: ['node'],
      strict: true,
      noEmit: true,
      skipLibCheck: false,
    },
    files: ['main.ts'],
  }),
)
writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
const { status, stdout, stderr } = spawnSync(
  process.execPath,
  [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder, '--pretty', 'false'],
  { encoding: 'utf8' },
)
process.stderr.write(stdout + stderr)
process.exit(status ?? 1)

// Checks the docs: every TypeScript block of the guides compiles, and every link has a target.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (page: string): string => readFileSync(join(root, page), 'utf8')
const PACKAGE_PAGES = ['conformance', 'server', 'tables', 'telegram', 'uploads'].map(
  (name) => `packages/${name}/README.md`,
)

function pagesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return pagesBelow(path)
    return entry.name.endsWith('.md') ? [path] : []
  })
}

/** Names that blocks may use without an import. A block that declares one of them uses its own. */
const PRELUDE = `
import type { JobDefinition, Mill } from 'jobmill'
declare global {
  const mill: Mill
  const sendEmail: JobDefinition<{ to: string; subject: string }, { messageId: string }>
  const items: { payload: { to: string; subject: string } }[]
  const counts: Map<string, number>
  function deliver(email: { to: string; subject: string }, signal?: AbortSignal): Promise<string>
}
`

const COMPILER = {
  extends: '../../tsconfig.json',
  compilerOptions: {
    noEmit: true,
    // An example may end at the line that matters.
    noUnusedLocals: false,
    noUnusedParameters: false,
    paths: {
      // Use the declarations that users get, which also compile much faster than the sources.
      jobmill: ['../../packages/jobmill/dist/index.d.ts'],
      'jobmill/*': ['../../packages/jobmill/dist/*.d.ts', '../../packages/jobmill/dist/*/index.d.ts'],
    },
  },
  include: ['*.ts'],
}

interface Block {
  readonly page: string
  readonly file: string
  readonly text: string
}

/**
 * Each block becomes a module, with its lines at the same numbers as in the page, so that compiler errors
 * point there.
 */
function blocksOf(page: string): Block[] {
  const lines = read(page).split('\n')
  const fences = lines.flatMap((line, at) => (/^\s*```/.test(line) ? [at] : []))
  return fences.flatMap((start, index) => {
    if (index % 2 === 1 || lines[start]?.trim() !== '```ts') return []
    const end = fences[index + 1] ?? lines.length
    const text = [...Array<string>(start + 1).fill(''), ...lines.slice(start + 1, end), 'export {}'].join(
      '\n',
    )
    return [{ page, file: `${page.replaceAll('/', '-')}-${start + 1}.ts`, text }]
  })
}

/** Returns the compiler errors; empty when there are none. */
function compile(folder: string): Promise<string> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  return new Promise((done) => {
    execFile(
      process.execPath,
      [compiler, '-p', folder, '--pretty', 'false'],
      { cwd: folder },
      (error, stdout, stderr) => done(error === null ? '' : stdout + stderr),
    )
  })
}

test(
  'every TypeScript block of the README, the guides and the reference compiles',
  { timeout: 60_000 },
  async () => {
    const pages = [
      'README.md',
      ...PACKAGE_PAGES,
      ...['learn', 'operate', 'reference'].flatMap((folder) => pagesBelow(`docs/${folder}`)),
    ]
    const blocks = pages.flatMap(blocksOf)
    const withBlocks = new Set(blocks.map(({ page }) => page))
    expect(withBlocks.size).toBeGreaterThanOrEqual(pagesBelow('docs/learn').length + 1)
    expect([...withBlocks].some((page) => page.startsWith('docs/operate/'))).toBe(true)
    // Inside the repository, so that packages resolve, and ignored by git and by the checks.
    mkdirSync(join(root, 'reports'), { recursive: true })
    const folder = mkdtempSync(join(root, 'reports/guides-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(COMPILER))
    writeFileSync(join(folder, 'prelude.ts'), PRELUDE)
    for (const { file, text } of blocks) writeFileSync(join(folder, file), text)
    expect(await compile(folder)).toBe('')
  },
)

/** Their first block is an example, which examples.test.ts runs. */
const RECIPES = [
  ['ai-agents', 'agent/agent.ts'],
  ['human-in-the-loop', 'human-in-the-loop.ts'],
  ['sagas', 'saga.ts'],
  ['webhooks', 'webhook.ts'],
]

test.each(RECIPES)('the program of the recipe %s is examples/%s', (page, example) => {
  const [, program] = /^```ts\n([^]*?)^```$/m.exec(read(`docs/learn/${page}.md`)) ?? []
  expect(program).toBe(read(`examples/${example}`).replace(/^\/\*\*[^]*?\*\/\n/, ''))
})

/** The anchors that GitHub generates for headings, and those that a page sets to keep old links working. */
function anchorsOf(page: string): string[] {
  const text = read(page)
  const fromHeadings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
  const explicit = [...text.matchAll(/^<a id="([^"]+)"><\/a>$/gm)].map(([, id = '']) => id)
  return [...fromHeadings, ...explicit]
}

function isThere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : relative(root, resolve(root, dirname(page), path))
  if (!existsSync(join(root, target))) return false
  return anchor === undefined || !target.endsWith('.md') || anchorsOf(target).includes(anchor)
}

const LINKED = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...PACKAGE_PAGES,
  ...pagesBelow('docs'),
]

test.each(LINKED)('every link of %s has a target', (page) => {
  const text = read(page).replaceAll(/^```[\s\S]*?^```/gm, '')
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  const own = links.filter((link) => !/^[a-z]+:/.test(link))
  expect(own.filter((link) => !isThere(page, link))).toEqual([])
})

test('every file that ARCHITECTURE.md names exists', () => {
  const folders = [
    'packages/jobmill/src',
    'packages/telegram/src',
    'packages/uploads/src',
    'packages/jobmill/test',
    'test',
  ]
  const sources = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
      (path) => `/${folder}/${path}`,
    ),
  )
  const named = [...read('ARCHITECTURE.md').matchAll(/`([\w/-]+\.[\w.]*ts)`/g)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((name) => !sources.some((path) => path.endsWith(`/${name}`)))).toEqual([])
})

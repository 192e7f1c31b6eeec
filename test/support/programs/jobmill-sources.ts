// For `node --import`: programs that import our packages by name get the sources, so that no build is needed.
// JOBMILL_SOURCES names the folder of their bundle, for tests that start many processes.
import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { OUR_PACKAGES } from './our-packages.ts'

const { JOBMILL_SOURCES = '' } = process.env

/** Entries that are not in the bundle load from the sources. */
function urlOf(entry: string): string {
  const bundled = join(JOBMILL_SOURCES, entry.replace(/\.ts$/, '.js'))
  return JOBMILL_SOURCES !== '' && existsSync(bundled)
    ? pathToFileURL(bundled).href
    : new URL(`../../../packages/${entry}`, import.meta.url).href
}

registerHooks({
  resolve(specifier, context, next) {
    const entry = OUR_PACKAGES[specifier]
    return next(entry === undefined ? specifier : urlOf(entry), context)
  },
})

// For `node --import`: a program that imports jobmill by its name gets the sources, like every test, so that no
// build has to come first. JOBMILL_SOURCES names where they are bundled, for tests that start many processes.
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const ENTRIES: Readonly<Record<string, string>> = {
  jobmill: 'index.ts',
  'jobmill/sqlite': 'sqlite.ts',
  'jobmill/postgres': 'postgres.ts',
  'jobmill/opentelemetry': 'opentelemetry.ts',
  'jobmill/testing': 'testing/index.ts',
}

const { JOBMILL_SOURCES } = process.env

const urlOf = (entry: string): string =>
  JOBMILL_SOURCES === undefined
    ? new URL(`../../packages/jobmill/src/${entry}`, import.meta.url).href
    : pathToFileURL(join(JOBMILL_SOURCES, entry.replace(/\.ts$/, '.js'))).href

registerHooks({
  resolve(specifier, context, next) {
    const entry = ENTRIES[specifier]
    return next(entry === undefined ? specifier : urlOf(entry), context)
  },
})

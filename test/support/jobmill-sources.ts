// For `node --import`: a program that imports jobmill by its name gets the sources, like every test, so that no
// build has to come first.
import { registerHooks } from 'node:module'

const ENTRIES: Readonly<Record<string, string>> = {
  jobmill: 'index.ts',
  'jobmill/sqlite': 'sqlite.ts',
  'jobmill/postgres': 'postgres.ts',
  'jobmill/opentelemetry': 'opentelemetry.ts',
  'jobmill/testing': 'testing/index.ts',
}

registerHooks({
  resolve(specifier, context, next) {
    const entry = ENTRIES[specifier]
    if (entry === undefined) return next(specifier, context)
    return next(new URL(`../../packages/jobmill/src/${entry}`, import.meta.url).href, context)
  },
})

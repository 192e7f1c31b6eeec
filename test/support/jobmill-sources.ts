// For `node --import`: a program that imports our packages by their names gets the sources, like every test, so that no
// build has to come first.
import { registerHooks } from 'node:module'

const ENTRIES: Readonly<Record<string, string>> = {
  jobmill: 'jobmill/src/index.ts',
  'jobmill/sqlite': 'jobmill/src/sqlite.ts',
  'jobmill/postgres': 'jobmill/src/postgres.ts',
  'jobmill/http': 'jobmill/src/http.ts',
  'jobmill/opentelemetry': 'jobmill/src/opentelemetry.ts',
  'jobmill/testing': 'jobmill/src/testing/index.ts',
  'jobmill-tables': 'tables/src/index.ts',
  'jobmill-telegram': 'telegram/src/index.ts',
  'jobmill-telegram/fake': 'telegram/src/fake.ts',
  'jobmill-uploads': 'uploads/src/index.ts',
  'jobmill-uploads/client': 'uploads/src/client.ts',
}

registerHooks({
  resolve(specifier, context, next) {
    const entry = ENTRIES[specifier]
    if (entry === undefined) return next(specifier, context)
    return next(new URL(`../../packages/${entry}`, import.meta.url).href, context)
  },
})

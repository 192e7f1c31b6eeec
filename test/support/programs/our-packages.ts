// The entries of our packages by their import names, as paths below packages/. Tests and the programs that
// they start get the sources, so that no build is needed.
export const OUR_PACKAGES: Readonly<Record<string, string>> = {
  jobmill: 'jobmill/src/index.ts',
  'jobmill/sqlite': 'jobmill/src/sqlite.ts',
  'jobmill/postgres': 'jobmill/src/postgres.ts',
  'jobmill/store': 'jobmill/src/store.ts',
  'jobmill/internal': 'jobmill/src/internal.ts',
  'jobmill/orm': 'jobmill/src/orm.ts',
  'jobmill/client': 'jobmill/src/client.ts',
  'jobmill/cli': 'jobmill/src/cli.ts',
  'jobmill/opentelemetry': 'jobmill/src/opentelemetry.ts',
  'jobmill/testing': 'jobmill/src/testing/index.ts',
  'jobmill-conformance': 'conformance/src/index.ts',
  'jobmill-server': 'server/src/index.ts',
  'jobmill-tables': 'tables/src/index.ts',
  'jobmill-telegram': 'telegram/src/index.ts',
  'jobmill-telegram/fake': 'telegram/src/fake.ts',
  'jobmill-uploads': 'uploads/src/index.ts',
  'jobmill-uploads/client': 'uploads/src/client.ts',
}

/** For Vite and vitest: matches whole names, so that a name does not match as the prefix of another. */
export function aliases(packages: string): { find: RegExp; replacement: string }[] {
  return Object.entries(OUR_PACKAGES).map(([name, path]) => ({
    find: new RegExp(`^${name}$`),
    replacement: `${packages}/${path}`,
  }))
}

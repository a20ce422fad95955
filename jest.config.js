// One jest run for the whole repository: workspace packages resolve to their built dist/, a package's own
// tests import its src/. So `turbo run build` comes first (script/test does it).
if (Number(process.versions.node.split('.')[0]) < 24) {
  throw new Error('tests need Node 24: run them through script/test, which brings it');
}

export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  testMatch: [
    '<rootDir>/packages/*/test/**/*.test.ts',
    '<rootDir>/apps/*/test/**/*.test.ts',
    '<rootDir>/e2e/**/*.test.ts',
  ],
  modulePathIgnorePatterns: ['<rootDir>/tools/'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  maxWorkers: 2,
  testTimeout: 60_000,
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2024',
          keepClassNames: true,
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
};

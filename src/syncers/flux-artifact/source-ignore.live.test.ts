/** Which files are in an artifact, compared with Flux's own code. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type FileTexts, openFluxOracle } from '../../../test/appliers/flux-oracle.ts'
import * as fc from '../../../test/seeds/fast-check.ts'
import { isIgnoreFile, SourceIgnore } from './source-ignore.ts'

const TREE = [
  'a.yaml',
  'README.md',
  'logo.png',
  'x.zip',
  'x.tar.gz',
  '.gitignore',
  '.gitmodules',
  'deep/.gitattributes',
  '.github/workflows/a.yml',
  'deep/.github/b.yaml',
  '.sops.yaml',
  'deep/er/.sops.yaml',
  '.travis.yml',
  'deep/.travis.yml',
  'app/a.yaml',
  'app/b.yml',
  'app/README.md',
  'app/n/c.yaml',
  'app/n/m/d.yaml',
  'app/n/m/a.yaml',
  'test/app/a.yaml',
  'test/a b.yaml',
  'test/ä.yaml',
  'a/b/c/d/e.yaml',
  '#x',
  '!x',
  'x ',
  '[a].yaml',
  '*.yaml',
  'app.yaml/a',
]

interface IgnoreCase {
  readonly files: FileTexts
  readonly ignore?: string
}

const spec = (...lines: readonly string[]): IgnoreCase => ({ files: {}, ignore: lines.join('\n') })
const CASES: { readonly [name: string]: IgnoreCase } = {
  'nothing is given': { files: {} },
  'an empty specification': spec(''),
  'a specification of comments': spec('# a', '', '   '),
  'a .sourceignore replaces the default patterns': { files: { '.sourceignore': 'README.md\n' } },
  'a specification replaces the default patterns': spec('README.md'),
  'everything but a folder': spec('/*', '!/app'),
  'everything but a folder, with a slash': spec('/*', '!/app/'),
  'everything but a folder in a folder': spec('/*', '!/app/n'),
  'everything but files': spec('*', '!*.yaml'),
  everything: spec('*'),
  'the root': spec('/'),
  'two stars': spec('**'),
  'two stars and a name': spec('**/a.yaml'),
  'a folder and two stars': spec('app/**'),
  'a folder, two stars and a name': spec('a/**/e.yaml'),
  'a folder, two stars and its child': spec('app/**/a.yaml'),
  'two stars in the middle of a name': spec('a**l', 'app/**x/a.yaml'),
  'two stars in the middle of a segment': spec(
    'app/a**',
    'app/**.yaml',
    'app/n**/c.yaml',
    '**/b**',
  ),
  'two stars twice': spec('**/n/**/d.yaml'),
  'two stars, a folder': spec('**/n/'),
  'two stars at the end after a folder that is not there': spec('gone/**'),
  'a folder by its name': spec('app/'),
  'a folder by its path': spec('app/n/'),
  'a folder that is a file': spec('a.yaml/'),
  'a path that is a file': spec('app/a.yaml/'),
  'a name': spec('app'),
  'a path': spec('app/a.yaml'),
  'a path from the root': spec('/a.yaml'),
  'a star for a folder': spec('*/a.yaml'),
  'stars for folders': spec('*/*/*'),
  'a question mark': spec('?.yaml', 'app/?.yml'),
  'a class': spec('[ab].yaml', '[!c].yaml', '[^d].yml'),
  'an escaped class': spec('\\[a].yaml'),
  'an escaped star': spec('\\*.yaml'),
  'an escaped hash and bang': spec('\\#x', '\\!x'),
  'a malformed class': spec('[a', 'app/[', '\\'),
  'spaces at the end': spec('a.yaml  ', 'x\\ '),
  'spaces at the beginning': spec(' a.yaml'),
  'a space inside': spec('a b.yaml'),
  'lines of Windows': spec('a.yaml\r', 'app/\r'),
  'a letter of two bytes': spec('?.yaml', 'test/??.yaml'),
  'two slashes': spec('app//n', '//a.yaml'),
  'a bang alone': spec('*', '!'),
  'the other way round': spec('!*.yaml', '*'),
  'a file is brought back from a folder': spec('app/', '!app/n/c.yaml'),
  'the default patterns are brought back': spec('!logo.png', '!.gitignore', '!.github/'),
  'a nested file belongs to its folder': {
    files: { 'app/.sourceignore': '/n\na.yaml\n', 'test/.sourceignore': '*\n' },
  },
  'a nested file over the one of the root': {
    files: {
      '.sourceignore': '*.yaml\n',
      'app/.sourceignore': '!a.yaml\n',
      'app/n/.sourceignore': 'a.yaml\n',
    },
  },
  'the specification over files': {
    files: { '.sourceignore': 'app/\n', 'app/.sourceignore': '!*\n' },
    ignore: '/app/b.yml',
  },
  'a file in an excluded folder is read': {
    files: { '.sourceignore': '/app\n', 'app/.sourceignore': '!n\n' },
  },
  'the files themselves': {
    files: { '.sourceignore': '.sourceignore\n', 'app/.sourceignore': '# x\n' },
  },
  'a long line ends the file': spec('a.yaml', `b${'x'.repeat(70_000)}`, 'README.md'),
}

const flux = await openFluxOracle()
if (flux.state === 'unavailable') test('appliers', { skip: flux.why }, () => undefined)
else {
  after(() => flux.close())
  const assertSame = async ({ files, ...given }: IgnoreCase): Promise<void> => {
    const all = { ...Object.fromEntries(TREE.map((path) => [path, ''])), ...files }
    const ignoreFiles = new Map(Object.entries(all).filter(([path]) => isIgnoreFile(path)))
    const ignored = new SourceIgnore(ignoreFiles, given.ignore)
    const ours = Object.keys(all).filter((path) => ignored.has(path))
    const { paths = [], error } = await flux.ask({ ask: 'artifact', files: all, ...given })
    assert.equal(error, undefined)
    assert.deepEqual(new Set(ours), new Set(paths))
  }
  for (const [name, each] of Object.entries(CASES)) test(name, () => assertSame(each))

  const segment = fc.oneof(
    {
      arbitrary: fc.constantFrom(
        '*',
        '**',
        '**',
        'a**',
        '**l',
        'app',
        'n',
        'm',
        'a',
        'b',
        'a.yaml',
        '*.yaml',
        'deep',
        'test',
        '?',
        '*a*',
        '[a-c]*',
        '',
        '.*',
      ),
      weight: 6,
    },
    {
      arbitrary: fc.string({ unit: fc.constantFrom(...'*?[]^-!\\ab.yml#ä '), maxLength: 5 }),
      weight: 1,
    },
  )
  const line = fc
    .tuple(
      fc.constantFrom('', '', '', '!', '#', ' '),
      fc.constantFrom('', '', '/'),
      fc.array(segment, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('', '', '/', ' ', '\r', '\\ '),
    )
    .map(([sign, root, segments, end]) => `${sign}${root}${segments.join('/')}${end}`)
  const lines = fc.array(line, { maxLength: 4 }).map((all) => all.join('\n'))
  const cases = fc
    .record({
      files: fc.dictionary(
        fc.constantFrom(
          '.sourceignore',
          'app/.sourceignore',
          'app/n/.sourceignore',
          'a/b/.sourceignore',
          'test/.sourceignore',
        ),
        lines,
        { maxKeys: 3 },
      ),
      ignore: fc.option(lines, { nil: undefined }),
    })
    .map(({ files, ignore }): IgnoreCase => (ignore === undefined ? { files } : { files, ignore }))
  test('ignore patterns keep the same files as Flux', () =>
    fc.assert(fc.asyncProperty(cases, assertSame), { numRuns: 300 }))
}

/** The workspaces below `src/`: each is entered by its doors, has a README of one page, and its example runs. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const LIBRARIES = readdirSync(join(ROOT, 'src')).filter((folder) =>
  existsSync(join(ROOT, 'src', folder, 'package.json')),
)
const PAGE = 60
/** A package that a source imports, with its scope where it has one. */
const IMPORTED =
  /\b(?:from|import\()\s*'(?:(@[\w-]+\/[\w.-]+)|(?!node:)([\w.-]*\w[\w.-]*))(?:\/[^']*)?'/g
const ROOT_MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string
  readonly devDependencies: Readonly<Record<string, string>>
}
const VERSIONS = ROOT_MANIFEST.devDependencies
const SOURCES = ['src', 'functions', 'test', 'bench', 'docs', '.ci'].flatMap((top) =>
  readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(ROOT, top, path)),
)

interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string>>
}

for (const library of LIBRARIES)
  describe(library, () => {
    const folder = join(ROOT, 'src', library)
    const {
      name,
      exports,
      dependencies = {},
    } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
    const readme = readFileSync(join(folder, 'README.md'), 'utf8')

    test('the example of its README prints the documented output', () => {
      assert.ok(readme.split('\n').length <= PAGE, 'one page')
      const [, example = '', printed = ''] =
        /```js\n(.*?)```\n\nIt prints:\n\n```\n(.*?)```/s.exec(readme) ?? []
      assert.notEqual(printed, '', 'the README has an example and what it prints')
      const output = execFileSync(process.execPath, ['--input-type=module'], {
        cwd: import.meta.dirname,
        input: example,
        encoding: 'utf8',
      })
      assert.equal(output, printed)
    })

    test('its exports are files, named in the README', () => {
      const doors = Object.entries(exports)
      assert.ok(doors.length > 0 && doors.length <= 12, `${doors.length} doors`)
      for (const [door, path] of doors) {
        assert.ok(existsSync(join(folder, path)), path)
        assert.notEqual(path, './index.ts')
        assert.ok(readme.includes(`\`${door.slice(2)}\``), `the README does not name ${door}`)
      }
    })

    test('its manifest lists its imports, in the versions of the root', () => {
      const sources = SOURCES.filter(
        (path) => path.startsWith(`${folder}/`) && !path.endsWith('.test.ts'),
      )
      const imported = sources
        .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(IMPORTED)])
        .map(([, scoped = '', plain = '']) => scoped || plain)
        .filter((each) => each !== name)
      assert.deepEqual(Object.keys(dependencies), [...new Set(imported)].sort())
      for (const [dependency, version] of Object.entries(dependencies))
        assert.equal(version, VERSIONS[dependency] ?? ROOT_MANIFEST.version, dependency)
    })

    test('only its exports can be imported', () => {
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
        /\.\w+$/.test(path),
      )
      const inside = files.find((path) => !Object.values(exports).includes(`./${path}`))
      const program = `await import('${name}/${inside}').then(() => console.log('found'), (error) => console.log(error.code))`
      const output = execFileSync(process.execPath, ['--input-type=module'], {
        cwd: import.meta.dirname,
        input: program,
        encoding: 'utf8',
      })
      assert.equal(output, 'ERR_PACKAGE_PATH_NOT_EXPORTED\n')
    })

    test('other code imports it by its name', () => {
      const isInside = (path: string): boolean => path.startsWith(`${folder}/`)
      const wrong = SOURCES.filter(
        (path) =>
          !isInside(path) &&
          [...readFileSync(path, 'utf8').matchAll(/\b(?:from|import\(?)\s*'(\.[^']+)'/g)].some(
            ([, to = '']) => isInside(join(dirname(path), to)),
          ),
      )
      assert.deepEqual(wrong, [])
    })
  })

/** What is shipped and what is written about it: the bill of materials, licences, and the files of a release. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { LockEntry, Sbom } from '../../.ci/sbom.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'backporch-release-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** What a licence asks of us is that its text goes along: licenses.txt. */
const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'Unlicense',
  'Zlib',
]

function isAllowed(licence: string): boolean {
  const text = licence.replace(/^\((.*)\)$/, '$1')
  if (text.includes(' OR ')) return text.split(' OR ').some(isAllowed)
  return text.split(' AND ').every((each) => ALLOWED.includes(each))
}

function licenceOf({ licenses: [licence] = [] }: Sbom['components'][number]): string {
  if (licence === undefined) return 'none'
  return 'expression' in licence ? licence.expression : licence.license.id
}

const program = execFileSync(process.execPath, [join(ROOT, '.ci', 'bundle.ts'), folder], {
  encoding: 'utf8',
})
const text = readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')
const sbom = JSON.parse(text) as Sbom
const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, LockEntry>
}

test('the bill of materials lists every package of the bundle with its lock file hash, and nothing else', () => {
  const licences = readFileSync(join(folder, 'licenses.txt'), 'utf8')
  const headings = [...licences.matchAll(/^==== (\S+) (\S+) \(.*\) ====$/gm)].map(
    ([, name, version]) => `${name}@${version}`,
  )
  assert.deepEqual(
    sbom.components.map(({ name, version }) => `${name}@${version}`).sort(),
    [...new Set(headings)].sort(),
  )
  assert.match(program, new RegExp(`with ${headings.length} packages$`, 'm'))
  const locked = new Set(
    Object.values(packages).map(({ integrity = '' }) =>
      Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex'),
    ),
  )
  for (const { name, hashes = [] } of sbom.components)
    assert.ok(hashes.length === 1 && locked.has(hashes[0]?.content ?? ''), name)
  const names = sbom.components.map(({ name }) => name)
  for (const name of ['undici', 'kpt-functions', 'isomorphic-git'])
    assert.ok(names.includes(name), name)
  for (const name of [
    'yaml',
    'esbuild',
    'typescript',
    '@biomejs/biome',
    'marked',
    'graphql',
    'ajv',
  ])
    assert.ok(!names.includes(name), name)
})

test('the bill of materials is CycloneDX 1.6 with resolvable references and without a time', () => {
  assert.deepEqual([sbom.bomFormat, sbom.specVersion, sbom.version], ['CycloneDX', '1.6', 1])
  assert.match(
    sbom.serialNumber,
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
  )
  const refs = [sbom.metadata.component, ...sbom.components].map(
    (component) => component['bom-ref'],
  )
  assert.equal(new Set(refs).size, refs.length)
  assert.deepEqual(
    sbom.dependencies.map(({ ref }) => ref),
    [...refs].sort(),
  )
  for (const { dependsOn } of sbom.dependencies)
    for (const ref of dependsOn) assert.ok(refs.includes(ref), ref)
  for (const { purl, hashes } of sbom.components) {
    assert.match(purl, /^pkg:npm\/(?:%40[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+$/)
    assert.match(hashes?.[0]?.content ?? '', /^[0-9a-f]{128}$/)
  }
  const client = sbom.dependencies.find(({ ref }) => ref.startsWith('pkg:npm/isomorphic-git@'))
  assert.ok(
    client?.dependsOn.some((ref) => ref.startsWith('pkg:npm/ignore@5.')),
    'ignore of its own folder',
  )
  assert.doesNotMatch(text, /https?:|timestamp|\d\d:\d\d/)
})

test('every library of the bundle has an allowed licence, and its text is included', () => {
  assert.deepEqual(
    sbom.components
      .filter((component) => !isAllowed(licenceOf(component)))
      .map((component) => `${component.name}: ${licenceOf(component)}`),
    [],
  )
  const sections = readFileSync(join(folder, 'licenses.txt'), 'utf8')
    .split(/^==== (.*) ====$/m)
    .slice(1)
  const withoutText = sections.flatMap((part, at) =>
    at % 2 === 0 && (sections[at + 1] ?? '').trim().length < 200 ? [part] : [],
  )
  // Their packages have no file of it.
  assert.deepEqual(withoutText, ['clean-git-ref 2.0.1 (Apache-2.0)', 'diff3 0.0.3 (MIT)'])
  for (const licence of ['GPL-3.0-only', 'none', 'MIT AND GPL-2.0-only', 'SEE LICENSE IN x', ''])
    assert.ok(!isAllowed(licence), licence)
  for (const licence of ['(MIT OR GPL-2.0-only)', 'MIT AND ISC'])
    assert.ok(isAllowed(licence), licence)
})

test('unavailable advisories are skipped locally, fail in CI, and never pass', () => {
  const npm = join(folder, 'npm')
  const ask = (answer: string, ci: string) => {
    writeFileSync(npm, `#!/bin/sh\necho '${answer}'\n`, { mode: 0o755 })
    const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}`, CI: ci }
    const { status, stdout } = spawnSync(
      process.execPath,
      [join(ROOT, '.ci', 'advisories.ts'), folder],
      { env, encoding: 'utf8' },
    )
    return [status, stdout.trim().split('\n').at(-1)]
  }
  const count = sbom.components.length
  assert.deepEqual(ask('{"vulnerabilities": {}}', ''), [
    0,
    `advisories: 0 of ${count} packages of the bundle have one`,
  ])
  assert.deepEqual(ask('{"vulnerabilities": {"yaml": {"severity": "high", "range": "<9"}}}', ''), [
    1,
    `advisories: 1 of ${count} packages of the bundle have one`,
  ])
  for (const answer of ['{"message": "404"}', '{"error": {"summary": "404"}}']) {
    assert.deepEqual(ask(answer, ''), [0, 'advisories: skipped (404)'])
    assert.deepEqual(ask(answer, 'true'), [
      1,
      'advisories: skipped (404), which is a failure in CI',
    ])
  }
  assert.match(String(ask('<html>', '')[1]), /^advisories: skipped \(npm audit printed "<html>/)
})

test('archives are identical under any umask, and their content is world-readable', () => {
  const files = ['package.json', 'README.md', 'LICENSE', 'action.yml', 'src/launch.cjs']
  const packed = ['022', '027', '077'].map((umask) => {
    const [from, out] = ['from', 'out'].map((name) => join(folder, `${name}-${umask}`)) as [
      string,
      string,
    ]
    // A checkout and a build of somebody with this umask.
    const copy = (source: string, names: string, target: string): string =>
      `mkdir -p ${target} && tar -C ${source} -c ${names} | tar -C ${target} --no-same-permissions -x`
    const script = [
      `umask ${umask}`,
      copy(ROOT, files.join(' '), from),
      copy(folder, '--exclude=./from-* --exclude=./out-* --exclude=./npm .', `${from}/dist`),
      `mkdir ${out}`,
      `${join(ROOT, '.ci/pack')} ${from} ${out}`,
    ].join('\n')
    execFileSync('bash', ['-ec', script], { stdio: ['ignore', 'ignore', 'inherit'] })
    const names = readdirSync(out).sort()
    assert.deepEqual(names, ['action.tar.gz', `backporch-${sbom.metadata.component.version}.tgz`])
    for (const name of names) {
      assert.equal(statSync(join(out, name)).mode & 0o777, 0o644, name)
      const listed = execFileSync('tar', ['-tvzf', join(out, name)], { encoding: 'utf8' })
        .trim()
        .split('\n')
      for (const line of listed)
        assert.match(line, /^(?:-rw-r--r--|-rwxr-xr-x|drwxr-xr-x) /, `${name} ${umask}`)
    }
    return names.map((name) =>
      createHash('sha256')
        .update(readFileSync(join(out, name)))
        .digest('hex'),
    )
  })
  for (const other of packed.slice(1)) assert.deepEqual(other, packed[0])
})

test("package.json names the project's repository, which provenance is checked against", () => {
  const { repository, bugs, homepage } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  ) as Record<string, { url: string }>
  assert.equal(repository?.url, 'git+https://github.com/backporch/backporch.git')
  assert.equal(bugs?.url, 'https://github.com/backporch/backporch/issues')
  assert.match(
    readFileSync(join(ROOT, 'Kptfile'), 'utf8'),
    new RegExp(`^ {2}site: ${String(homepage)}$`, 'm'),
  )
})

test('all that dependabot and CODEOWNERS name exists', () => {
  const updates = readFileSync(join(ROOT, '.github', 'dependabot.yml'), 'utf8')
  const listed = [...updates.matchAll(/^ {6}- (\/test\/.*)$/gm)].map(([, path]) => path?.slice(1))
  const modules = execFileSync('git', ['ls-files', 'go.mod', '*/go.mod'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  assert.deepEqual(
    listed.sort(),
    modules
      .trim()
      .split('\n')
      .map((path) => path.replace(/\/go\.mod$/, ''))
      .sort(),
  )
  for (const [, path = ''] of readFileSync(join(ROOT, '.github', 'CODEOWNERS'), 'utf8').matchAll(
    /^\/(\S+) /gm,
  ))
    assert.ok(existsSync(join(ROOT, path)), path)
})

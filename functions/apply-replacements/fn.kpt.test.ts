import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runKpt, whyNoKpt, withFolder } from '../../test/kpt/find-kpt.ts'

/** With the Node that runs the tests: the one on the PATH may be older. */
const PROGRAM = `${process.execPath} ${fileURLToPath(new URL('run.ts', import.meta.url))}`
const FILES = {
  'settings.yaml': `# what differs between the sites
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  annotations:
    config.kubernetes.io/local-config: "true"
data:
  host: shop.example.com # public
`,
  'ingress.yaml': `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: shop
spec:
  rules:
  - host: to-be-set # see settings.yaml
  tls:
  - hosts: ['to-be-set']
`,
  'replace.yaml': `apiVersion: fn.kpt.dev/v1alpha1
kind: ApplyReplacements
metadata:
  name: hosts
  annotations:
    config.kubernetes.io/local-config: "true"
replacements:
- source:
    kind: ConfigMap
    name: settings
    fieldPath: data.host
  targets:
  - select:
      kind: Ingress
    fieldPaths:
    - spec.rules.*.host
    - spec.tls.0.hosts.0
`,
}

test('kpt runs it as a program, and only the named fields differ', {
  skip: whyNoKpt(),
}, () => {
  withFolder(FILES, (folder) => {
    const { ok, stderr } = runKpt(
      folder,
      'fn',
      'eval',
      '.',
      '--exec',
      PROGRAM,
      '--fn-config',
      'replace.yaml',
    )
    assert.ok(ok, stderr)
    const read = (path: string): string => readFileSync(join(folder, path), 'utf8')
    assert.equal(
      read('ingress.yaml'),
      FILES['ingress.yaml']
        .replace('host: to-be-set', 'host: shop.example.com')
        .replace("'to-be-set'", "'shop.example.com'"),
    )
    assert.equal(read('settings.yaml'), FILES['settings.yaml'])
  })
})

test('kpt shows the error and changes nothing', { skip: whyNoKpt() }, () => {
  const replace = FILES['replace.yaml'].replace('data.host', 'data.port')
  withFolder({ ...FILES, 'replace.yaml': replace }, (folder) => {
    const { ok, stderr, stdout } = runKpt(
      folder,
      'fn',
      'eval',
      '.',
      '--exec',
      PROGRAM,
      '--fn-config',
      'replace.yaml',
    )
    assert.ok(!ok)
    assert.match(
      stderr + stdout,
      /fieldPath `data\.port` is missing for replacement source ConfigMap\.\[noVer\]\.\[noGrp\]\/settings\.\[noNs\]/,
    )
    assert.equal(readFileSync(join(folder, 'ingress.yaml'), 'utf8'), FILES['ingress.yaml'])
  })
})

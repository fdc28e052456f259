import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Failure } from '@backporch/kyaml/failure'
import { type KubeconfigOptions, readKubeconfig } from './kubeconfig.ts'

function folderOf(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

function config(
  name: string,
  cluster = `server: https://${name}.example:6443`,
  user = 'token: t',
): string {
  return `apiVersion: v1
kind: Config
clusters: [{name: ${name}, cluster: {${cluster}}}]
users: [{name: ${name}, user: {${user}}}]
contexts: [{name: ${name}, context: {cluster: ${name}, user: ${name}, namespace: ns-${name}}}]
current-context: ${name}
`
}

function failing(options: Partial<KubeconfigOptions>, ...parts: readonly RegExp[]): void {
  assert.throws(
    () => readKubeconfig({ environment: {}, serviceAccountRoot: '/nonexistent', ...options }),
    (thrown) => {
      assert.ok(thrown instanceof Failure, String(thrown))
      assert.equal(thrown.code, 'BP1006')
      for (const part of parts)
        assert.match(`${thrown.where} ${thrown.message} ${thrown.remedy}`, part)
      return true
    },
  )
}

test('reads only the file that --kubeconfig names', (t) => {
  const folder = folderOf(t, { a: config('a'), b: config('b') })
  const access = readKubeconfig({
    kubeconfig: join(folder, 'a'),
    environment: { KUBECONFIG: join(folder, 'b') },
  })
  assert.deepEqual(
    [access.context, access.namespace, access.server.href, access.user.token],
    ['a', 'ns-a', 'https://a.example:6443/', 't'],
  )
})

test('reads ~/.kube/config when KUBECONFIG is unset', (t) => {
  const home = folderOf(t, { '.kube/config': config('home') })
  assert.equal(readKubeconfig({ environment: { HOME: home } }).context, 'home')
})

test('merges the files of KUBECONFIG: the first entry of a name wins, missing files are skipped', (t) => {
  const folder = folderOf(t, {
    one: config('a', 'server: https://first.example'),
    two: `${config('a', 'server: https://second.example')}`,
    three: config('c'),
  })
  const KUBECONFIG = ['one', 'missing', 'two', 'three']
    .map((name) => join(folder, name))
    .join(delimiter)
  assert.equal(readKubeconfig({ environment: { KUBECONFIG } }).server.hostname, 'first.example')
  assert.equal(
    readKubeconfig({ environment: { KUBECONFIG }, context: 'c' }).server.hostname,
    'c.example',
  )
})

test('reports an unknown context with the available ones', (t) => {
  const folder = folderOf(t, { one: config('prod'), two: config('stage') })
  const KUBECONFIG = ['one', 'two'].map((name) => join(folder, name)).join(delimiter)
  failing(
    { environment: { KUBECONFIG }, context: 'test' },
    /no context "test"; it has prod, stage/,
    /--context/,
  )
})

test('lists the contexts when there is no current context', (t) => {
  const folder = folderOf(t, {
    one: config('prod').replace('current-context: prod', "current-context: ''"),
  })
  failing({ kubeconfig: join(folder, 'one') }, /no current context; it has prod/)
})

test('distinguishes missing files, folders, empty files and invalid files', (t) => {
  const folder = folderOf(t, {
    empty: '{}',
    list: '[1]',
    contexts: 'contexts: 7',
    noname: 'clusters: [{cluster: {}}]',
  })
  failing({ kubeconfig: join(folder, 'nothing') }, /nothing.*does not exist/)
  failing({ kubeconfig: folder }, /it is a folder/)
  failing({ kubeconfig: join(folder, 'empty') }, /no current context; it has no contexts/)
  failing({ kubeconfig: join(folder, 'list') }, /not a mapping/)
  failing({ kubeconfig: join(folder, 'contexts') }, /contexts is not a list/)
  failing({ kubeconfig: join(folder, 'noname') }, /clusters\[0\]\.name is missing/)
  failing({ environment: { HOME: folder } }, /not a pod/)
  failing({ environment: { KUBECONFIG: join(folder, 'nothing') } }, /no file of KUBECONFIG exists/)
})

test('reports invalid YAML with line and column, without quoting it', (t) => {
  const folder = folderOf(t, { bad: 'users:\n- user: {token: SECRET-TOKEN, x: [}\n' })
  assert.throws(
    () => readKubeconfig({ kubeconfig: join(folder, 'bad'), environment: {} }),
    (thrown) => {
      assert.ok(thrown instanceof Failure)
      assert.match(thrown.where ?? '', /bad:2:\d+$/)
      assert.doesNotMatch(JSON.stringify(thrown) + String(thrown.stack), /SECRET-TOKEN/)
      return true
    },
  )
})

test('rejects a context that names a missing cluster or user', (t) => {
  const folder = folderOf(t, {
    cluster: config('a').replace('cluster: a,', 'cluster: b,'),
    user: config('a').replace('user: a,', 'user: b,'),
  })
  failing({ kubeconfig: join(folder, 'cluster') }, /the cluster "b", which does not exist/)
  failing({ kubeconfig: join(folder, 'user') }, /the user "b", which does not exist/)
})

for (const [server, why] of [
  ['server: http://api.example', /plain http/],
  ['server: https://169.254.169.254', /link-local/],
  ['server: "https://[fe80::1]:6443"', /link-local/],
  ['server: "https://[::ffff:169.254.169.254]"', /link-local/],
  ['server: https://user@api.example', /user name/],
  ['server: ftp://api.example', /not an https URL/],
  ['server: api', /not an https URL/],
  ['certificate-authority: x', /is missing/],
] as const) {
  test(`does not connect to a cluster with ${server}`, (t) => {
    failing({ kubeconfig: join(folderOf(t, { a: config('a', server) }), 'a') }, why)
  })
}

test('accepts plain http on loopback', (t) => {
  const folder = folderOf(t, { a: config('a', 'server: http://127.0.0.1:8001') })
  assert.equal(
    readKubeconfig({ kubeconfig: join(folder, 'a'), environment: {} }).server.protocol,
    'http:',
  )
})

test('insecure-skip-tls-verify requires explicit confirmation', (t) => {
  const kubeconfig = join(
    folderOf(t, { a: config('a', 'server: https://a.example, insecure-skip-tls-verify: true') }),
    'a',
  )
  failing({ kubeconfig }, /insecure-skip-tls-verify/, /--insecure-skip-tls-verify/)
  assert.equal(
    readKubeconfig({ kubeconfig, environment: {}, insecureSkipTlsVerify: true }).skipTlsVerify,
    true,
  )
})

test('inline data takes precedence over files, and paths are relative to their kubeconfig', (t) => {
  const user =
    'client-certificate: pki/c.crt, client-key: /abs/c.key, tokenFile: token, client-certificate-data: ""'
  const folder = folderOf(t, {
    'sub/a': config(
      'a',
      'server: https://a.example, certificate-authority: ca.crt, certificate-authority-data: Zm9v',
      user,
    ),
  })
  const access = readKubeconfig({ kubeconfig: join(folder, 'sub/a'), environment: {} })
  assert.deepEqual(access.authority, { data: 'Zm9v' })
  assert.deepEqual(access.user.certificate, { file: join(folder, 'sub/pki/c.crt') })
  assert.deepEqual(access.user.key, { file: '/abs/c.key' })
  assert.equal(access.user.tokenFile, join(folder, 'sub/token'))
})

test('a pod without kubeconfig uses its service account', (t) => {
  const serviceAccountRoot = folderOf(t, { token: 'tok', 'ca.crt': 'x', namespace: 'agents\n' })
  const access = readKubeconfig({
    environment: { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' },
    serviceAccountRoot,
  })
  assert.deepEqual(
    [access.server.href, access.namespace, access.user.tokenFile],
    ['https://10.0.0.1/', 'agents', join(serviceAccountRoot, 'token')],
  )
})

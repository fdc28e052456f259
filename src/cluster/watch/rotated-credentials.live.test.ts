import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect } from 'node:tls'
import type { JsonObject } from '@backporch/kyaml/json'
import type { Clock } from '@backporch/system/clock'
import { create, realClock, recordingClock } from '../../../test/apiserver/live-cluster.ts'
import { controlPlaneSuite } from '../../../test/controlplane/control-plane-suite.ts'
import { secondApiServer } from '../../../test/controlplane/server-hands.ts'
import {
  type Credential,
  createTestAuthority,
  openTestAuthority,
  servingCredential,
} from '../../../test/controlplane/test-authority.ts'
import {
  auditedRequests,
  configMapsOf,
  liveWatch,
  longerThanProofs,
  throughTcp,
  told,
  Writer,
} from '../../../test/faults/live-watch.ts'
import { waitUntil } from '../../../test/waiting/wait-until.ts'
import { WATCH_DEFAULTS } from './watch-options.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const HOUR = 3_600_000

interface TokenReview {
  readonly status: { readonly authenticated?: boolean }
}

/** The real time, and what is added to it. */
function settableClock(): Clock & { add(milliseconds: number): void } {
  let added = 0
  return {
    ...realClock,
    now: () => new Date(realClock.now().getTime() + added),
    add(milliseconds) {
      added += milliseconds
    },
  }
}

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rotated-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

async function kubeconfigIn(
  folder: string,
  cluster: JsonObject,
  user: JsonObject,
): Promise<string> {
  const file = join(folder, 'kubeconfig')
  const context = { cluster: 'test', user: 'test' }
  const lists = {
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user }],
    contexts: [{ name: 'test', context }],
  }
  await writeFile(
    file,
    JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...lists, 'current-context': 'test' }),
    { mode: 0o600 },
  )
  return file
}

await controlPlaneSuite(
  'watch with a token that is revoked',
  { auditLevel: 'Metadata' },
  (plane) => {
    /** A service account that may read ConfigMaps everywhere, and its token in a file. */
    async function account(t: TestContext) {
      const [folder, namespace] = [await folderFor(t), await plane.namespace('token')]
      const name = `reader-${namespace}`
      await create(plane, `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } })
      const rules = [
        { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] },
      ]
      await create(plane, `${RBAC}/clusterroles`, { metadata: { name }, rules })
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
      await create(plane, `${RBAC}/clusterrolebindings`, {
        metadata: { name },
        roleRef,
        subjects: [{ kind: 'ServiceAccount', name, namespace }],
      })
      const tokenFile = join(folder, 'token')
      /** A token that is valid for as long as the Secret is there. */
      async function grant(secret: string): Promise<void> {
        const secrets = `/api/v1/namespaces/${namespace}/secrets`
        const made = await plane.request<{ metadata: { uid: string } }>('POST', secrets, {
          body: { metadata: { name: secret } },
        })
        const boundObjectRef = {
          kind: 'Secret',
          apiVersion: 'v1',
          name: secret,
          uid: made.body.metadata.uid,
        }
        const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`
        const answer = await plane.request<{ status: { token: string } }>('POST', path, {
          body: { spec: { boundObjectRef } },
        })
        await writeFile(tokenFile, answer.body.status.token)
      }
      /** Resolves when the server does not believe the token any more: it does for 10 seconds. */
      async function revoke(secret: string): Promise<void> {
        assert.equal(
          (await plane.request('DELETE', `/api/v1/namespaces/${namespace}/secrets/${secret}`))
            .status,
          200,
        )
        const body = { spec: { token: await readFile(tokenFile, 'utf8') } }
        const review = () =>
          plane.request<TokenReview>('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
            body,
          })
        await waitUntil(
          'the token is not believed any more',
          async () => (await review()).body.status.authenticated !== true,
        )
      }
      await grant('first')
      const relay = await throughTcp(t, plane)
      const cluster = { server: relay.url, 'certificate-authority-data': plane.caData }
      return {
        relay,
        namespace,
        grant,
        revoke,
        kubeconfig: await kubeconfigIn(folder, cluster, { tokenFile }),
      }
    }
    const refusedRequests = async (version: string) =>
      (await auditedRequests(plane, version)).filter((line) => line.startsWith('401 '))

    test('rereads the token once, then reports unauthorized, and resumes with a new token without a relist', async (t) => {
      const { namespace, grant, revoke, kubeconfig } = await account(t)
      const clock = settableClock()
      const { observer, watch, state } = liveWatch(t, kubeconfig, {
        clock,
        version: namespace,
        streamLasts: [1_000, 1_000],
      })
      watch.follow([configMapsOf(namespace)])
      await waitUntil('it watches', () => state().state === 'watching')
      const writer = new Writer(plane, namespace)
      await writer.create('one')
      await waitUntil('the first event came', () => told(observer).length === 1)
      await revoke('first')
      await waitUntil('it is unauthorized', () => state().failure?.code === 'BP3002')
      assert.equal(state().state, 'waiting')
      assert.match(state().failure?.message ?? '', /does not accept the credentials \(401\)/)
      const unauthorized = clock.now().getTime()
      for (let n = 0; n < 5; n += 1) await writer.change('one', n)
      await writer.create('two')
      await longerThanProofs()
      assert.deepEqual([told(observer).length, observer.failures], [1, []])
      assert.ok(state().provenAt <= unauthorized, 'nothing proves it meanwhile')
      await grant('second')
      // Files are read again after a minute.
      clock.add(61_000)
      await waitUntil('the events came', () => told(observer).length >= writer.expected.length)
      await writer.assertTold(observer)
      assert.deepEqual([state().lists, state().failure], [1, undefined])
    })

    test('20 kinds of a revoked account retry together: two 401, then one per growing delay', async (t) => {
      const { relay, namespace, revoke, kubeconfig } = await account(t)
      const { firstWait, longestWait } = WATCH_DEFAULTS
      const clock = recordingClock()
      const { observer, watch } = liveWatch(t, kubeconfig, {
        firstWait,
        longestWait,
        random: () => 0.5,
        version: namespace,
        clock,
      })
      const kinds = Array.from({ length: 20 }, (_, index) =>
        configMapsOf(index === 0 ? namespace : `${namespace}-${index}`),
      )
      watch.follow(kinds)
      await waitUntil('all watch', () => watch.state().every(({ state }) => state === 'watching'))
      const before = [...observer.told]
      await revoke('first')
      assert.ok(
        watch.state().every(({ state }) => state === 'watching'),
        'open watches go on',
      )
      relay.reset()
      await waitUntil('all are unauthorized', () =>
        watch.state().every(({ failure }) => failure?.code === 'BP3002'),
      )
      // Each of them waits, with the others, about 0.5, 1, 2 and 4 seconds.
      const waits = (): number => Math.ceil(clock.slept.length / kinds.length)
      await waitUntil('they wait for the third time', () => waits() >= 3)
      // With the token as it was, with the token that was read anew, and with that one after each wait. The log may lag behind.
      const refused = await waitUntil('the requests are in the audit log', async () => {
        const lines = await refusedRequests(namespace)
        return lines.length >= 4 && lines
      })
      assert.ok(refused.length <= 2 + waits(), `${waits()} waits\n${refused.join('\n')}`)
      const [first = 0, second = 0, third = 0] = [0, 1, 2].map((wait) =>
        Math.max(...clock.slept.slice(wait * kinds.length, (wait + 1) * kinds.length)),
      )
      assert.ok(first < second && second < third, `${[first, second, third]}`)
      assert.ok(
        refused.every((line) => line.includes('/api/v1/namespaces/kube-system')),
        refused.join('\n'),
      )
      assert.deepEqual(observer.told, before)
    })
  },
)

// A plane of its own: another server works on its store.
await controlPlaneSuite(
  'watch of a server whose certificate is rotated',
  { apiServerFlags: ['--watch-cache=true'] },
  (plane) => {
    for (const protocol of ['h2', 'http/1.1'] as const) {
      /** A watch of a server whose certificate is replaced in place, as kubeadm and cert-manager do, and that of a kubeconfig with files. */
      async function world(t: TestContext) {
        const folder = await folderFor(t)
        const authority = await openTestAuthority(dirname(plane.kubeconfig))
        const [serving, authorityFile] = [join(folder, 'serving.pem'), join(folder, 'ca.crt')]
        await writeFile(authorityFile, authority.certificate)
        await install(serving, servingCredential(authority))
        const flags = [`--tls-cert-file=${serving}`, `--tls-private-key-file=${serving}`]
        const server = await secondApiServer(
          t,
          plane,
          protocol === 'h2' ? flags : [...flags, '--disable-http2-serving'],
        )
        const relay = await throughTcp(t, plane)
        relay.retarget(server)
        const admin = plane.credentialFor('admin', ['system:masters'])
        const user = {
          'client-certificate-data': Buffer.from(admin.certificate).toString('base64'),
          'client-key-data': Buffer.from(admin.key).toString('base64'),
        }
        const kubeconfig = await kubeconfigIn(
          folder,
          { server: relay.url, 'certificate-authority': authorityFile },
          user,
        )
        const namespace = await plane.namespace('certificate')
        const writer = new Writer(plane, namespace)
        const run = liveWatch(t, kubeconfig)
        run.watch.follow([configMapsOf(namespace)])
        await waitUntil('it watches', () => run.state().state === 'watching')
        await writer.create('one')
        await waitUntil('the first event came', () => told(run.observer).length === 1)
        /** The server has it from its next connection on, and every connection is a new one. */
        async function rotate(credential: Credential): Promise<void> {
          await install(serving, credential)
          await untilServed(server, credential)
          relay.reset()
        }
        /** Nothing is told and nothing counts as proven while the server is not trusted. */
        async function assertUntrusted(why: RegExp): Promise<void> {
          await waitUntil(`it is not trusted: ${why}`, () =>
            why.test(run.state().failure?.message ?? ''),
          )
          assert.deepEqual([run.state().state, run.state().failure?.code], ['waiting', 'BP3007'])
          const untrusted = realClock.now().getTime()
          const known = told(run.observer).length
          for (let n = 0; n < 5; n += 1) await writer.change('one', n)
          await longerThanProofs()
          assert.deepEqual(
            [told(run.observer).length, run.state().failure?.code],
            [known, 'BP3007'],
          )
          assert.ok(run.state().provenAt <= untrusted, 'nothing proves it meanwhile')
        }
        async function assertResumed(): Promise<void> {
          await waitUntil(
            'the events came',
            () => told(run.observer).length >= writer.expected.length,
          )
          await writer.assertTold(run.observer)
          assert.deepEqual([run.state().lists, run.state().failure], [1, undefined])
        }
        return { ...run, authority, authorityFile, rotate, assertUntrusted, assertResumed }
      }

      test(`${protocol}: reports an unknown authority and a truncated file, and resumes with the new kubeconfig`, async (t) => {
        const { state, authorityFile, rotate, assertUntrusted, assertResumed } = await world(t)
        // Its files have the name of the kubeconfig's: a folder of their own.
        const other = await createTestAuthority(await folderFor(t))
        await rotate(servingCredential(other))
        await assertUntrusted(
          /the server's certificate is not accepted \((UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_SIGNATURE_FAILURE)\)/,
        )
        await writeFile(authorityFile, 'half')
        await waitUntil('half a file is no authority', () => state().failure?.code === 'BP1006')
        await writeFile(authorityFile, other.certificate)
        await assertResumed()
      })

      test(`${protocol}: reports an expired certificate and a wrong name, and resumes with a renewed one`, async (t) => {
        const { authority, rotate, assertUntrusted, assertResumed } = await world(t)
        const notAfter = new Date('2025-01-01T00:00:00Z')
        await rotate(
          servingCredential(authority, {
            notBefore: new Date(notAfter.getTime() - HOUR),
            notAfter,
          }),
        )
        await assertUntrusted(/\(CERT_HAS_EXPIRED; it was valid until [A-Z]/)
        await rotate(
          servingCredential(authority, { names: ['elsewhere.example'], addresses: ['192.0.2.1'] }),
        )
        await assertUntrusted(/\(ERR_TLS_CERT_ALTNAME_INVALID\)/)
        await rotate(servingCredential(authority))
        await assertResumed()
      })
    }
  },
)

/** Certificate and key in one file, so that the server never reads those of two pairs. */
async function install(file: string, { certificate, key }: Credential): Promise<void> {
  await writeFile(`${file}.new`, `${certificate}${key}`, { mode: 0o600 })
  await rename(`${file}.new`, file)
}

async function untilServed(server: string, { certificate }: Credential): Promise<void> {
  const wanted = new X509Certificate(certificate).fingerprint256
  const served = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(
        { host: '127.0.0.1', port: Number(new URL(server).port), rejectUnauthorized: false },
        () => {
          resolve(socket.getPeerCertificate().fingerprint256)
          socket.destroy()
        },
      )
      socket.on('error', reject)
    })
  await waitUntil('the server serves the new certificate', async () => (await served()) === wanted)
}

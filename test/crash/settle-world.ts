/** A package in a namespace of its own on a real API server, edited by hand, with a policy that lets backporch settle. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { backporchHere } from '../e2e/run-here.ts'
import { boundCommand } from '../processes/bound-command.ts'
import { PROGRAM } from '../program.ts'
import { type KillingProxy, type LiveWrite, openKillingProxy } from './killing-proxy.ts'

const SYNCER = 'ci'

export interface Ended {
  readonly command: string
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** Which write, or which side of the push that merges. */
export type KillPoint =
  | { readonly write: number; readonly when: 'before' | 'after' }
  | { readonly merge: 'before' | 'after' }

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly [field: string]: unknown
}

/** Where objects of a kind lie below the namespace. */
const FOLDERS: { readonly [kind: string]: (namespace: string) => string } = {
  ConfigMap: (namespace) => `/api/v1/namespaces/${namespace}/configmaps`,
  Secret: (namespace) => `/api/v1/namespaces/${namespace}/secrets`,
  Service: (namespace) => `/api/v1/namespaces/${namespace}/services`,
  CronJob: (namespace) => `/apis/batch/v1/namespaces/${namespace}/cronjobs`,
}
const INVENTORY = { apiVersion: 'kpt.dev/v1alpha1', kind: 'ResourceGroup' }

/** Suspended, so that no controller of a shared plane has anything to say about it. */
const CRON_JOB = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'report' },
  spec: {
    schedule: '0 0 * * *',
    suspend: true,
    jobTemplate: {
      spec: {
        template: {
          spec: {
            restartPolicy: 'Never',
            containers: [
              {
                name: 'app',
                image: 'example.com/report:1',
                env: [
                  { name: 'LEVEL', value: 'info' },
                  { name: 'CURRENCY', value: 'EUR' },
                ],
              },
            ],
          },
        },
      },
    },
  },
}

const MANIFESTS: readonly Manifest[] = [
  config('settings', { timeout: '30', theme: 'light' }),
  config('doomed', { answer: '42' }),
  config('adopted', { color: 'blue' }),
  config('released', { size: 'small' }),
  CRON_JOB,
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'login' },
    stringData: { password: 'swordfish' },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: {
      selector: { app: 'web' },
      ports: [
        { name: 'http', port: 80, targetPort: 8080 },
        { name: 'metrics', port: 9090 },
      ],
    },
  },
]

function config(name: string, data: object): Manifest {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }
}

export class SettleWorld {
  readonly namespace: string
  readonly proxy: KillingProxy
  /** Writes that no merged commit authorised, as sentences. */
  readonly unauthorised: string[] = []
  private readonly plane: ControlPlane
  private readonly folder: string
  private readonly repository: string
  private readonly env: NodeJS.ProcessEnv
  private pid = 0

  private constructor(
    plane: ControlPlane,
    namespace: string,
    folder: string,
    proxy: (world: SettleWorld) => KillingProxy,
  ) {
    this.plane = plane
    this.namespace = namespace
    this.folder = folder
    this.repository = join(folder, 'packages.git')
    const home = join(folder, 'home')
    this.env = {
      PATH: process.env['PATH'],
      HOME: home,
      XDG_CACHE_HOME: join(home, 'cache'),
      KUBECONFIG: join(folder, 'kubeconfig'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@example.com',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@example.com',
      BACKPORCH_KEY: 'c0de'.repeat(16),
      NODE_COMPILE_CACHE: join(tmpdir(), 'backporch-test-compile-cache'),
    }
    this.proxy = proxy(this)
  }

  /** Applied by the syncer, edited by hand, proposed and planned: one change adopted, one released, the others restored. */
  static async open(plane: ControlPlane, folder: string): Promise<SettleWorld> {
    const namespace = await plane.namespace('crash')
    let world: SettleWorld | undefined
    const proxy = await openKillingProxy(plane, `${namespace}-user`, (write) => world?.check(write))
    world = new SettleWorld(plane, namespace, folder, () => proxy)
    world.makeRepository()
    await world.apply()
    await world.editByHand()
    assertEnded(await world.backporch('adopt', 'apps/web', 'configmap/adopted'), [0])
    assertEnded(await world.backporch('release', 'apps/web', 'configmap/released'), [0])
    assert.deepEqual(proxy.writes, [], 'nothing is written before the merge')
    return world
  }

  async close(): Promise<void> {
    await this.proxy.close()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Approves, and is killed there. */
  async approve(at: KillPoint | undefined): Promise<Ended> {
    if (at !== undefined && 'write' in at)
      this.proxy.arm({ at: at.write, when: at.when, pid: () => this.pid })
    if (at !== undefined && 'merge' in at) writeFileSync(join(this.folder, `kill-${at.merge}`), '')
    const approve = ['approve', 'apps/web', '--yes', '--as', 'Ada']
    const ended = await (at === undefined ? this.backporch(...approve) : this.started(...approve))
    this.proxy.arm(undefined)
    for (const when of ['before', 'after'])
      rmSync(join(this.folder, `kill-${when}`), { force: true })
    return ended
  }

  /** A scan that is killed right before or after its first write. */
  async scanKilled(when: 'before' | 'after'): Promise<Ended> {
    this.proxy.arm({ at: 1, when, pid: () => this.pid })
    const ended = await this.started('scan', 'apps/web', '--quiet')
    this.proxy.arm(undefined)
    return ended
  }

  /** Scans until live agrees with what was decided. @returns how many scans that took */
  async finish(): Promise<number> {
    for (let scans = 1; scans <= 4; scans += 1) {
      const scan = await this.backporch('scan', 'apps/web', '--quiet')
      assert.ok(scan.code === 0 || scan.code === 1, describe(scan))
      if (scan.code === 0) return scans
    }
    throw new assert.AssertionError({ message: 'four scans did not settle it' })
  }

  hasProposal(): boolean {
    return this.git('for-each-ref', 'refs/heads/proposed') !== ''
  }

  /** Nobody kills it, so it needs no process of its own. */
  async backporch(...args: readonly string[]): Promise<Ended> {
    const argv = [...args, '--repo', this.repository, '--cluster', 'prod']
    const { code, stdout, stderr } = await backporchHere(argv, { cwd: this.folder, env: this.env })
    return { command: args.join(' '), code, signal: null, stdout, stderr }
  }

  /** In a process that can be killed. */
  private async started(...args: readonly string[]): Promise<Ended> {
    const child = spawn(
      ...boundCommand(process.execPath, [
        PROGRAM,
        ...args,
        '--repo',
        this.repository,
        '--cluster',
        'prod',
      ]),
      {
        cwd: this.folder,
        env: this.env,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    this.pid = child.pid ?? 0
    writeFileSync(join(this.folder, 'pid'), String(this.pid))
    const closed = once(child, 'close') as Promise<
      [code: number | null, signal: NodeJS.Signals | null]
    >
    const [[code, signal], stdout, stderr] = await Promise.all([
      closed,
      text(child.stdout),
      text(child.stderr),
    ])
    return { command: args.join(' '), code, signal, stdout, stderr }
  }

  git(...args: readonly string[]): string {
    return execFileSync('git', args, {
      cwd: this.repository,
      env: this.env,
      encoding: 'utf8',
      stdio: 'pipe',
      maxBuffer: 1 << 26,
    })
  }

  /** Every object of the namespace as JSON, with its managed fields and without what no two runs have alike; by kind and name. */
  async live(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>()
    for (const [kind, folder] of Object.entries(FOLDERS)) {
      const { body } = await this.plane.request<{ items: Manifest[] }>(
        'GET',
        folder(this.namespace),
      )
      for (const item of body.items) found.set(`${kind}/${item.metadata.name}`, this.plain(item))
    }
    found.delete('ConfigMap/kube-root-ca.crt')
    return found
  }

  async resourceVersion(kind: string, name: string): Promise<string> {
    const { body } = await this.plane.request<{ metadata: { resourceVersion: string } }>(
      'GET',
      `${FOLDERS[kind]?.(this.namespace)}/${name}`,
    )
    return body.metadata.resourceVersion
  }

  /** Every ref with the files that it has, without times, ids and hashes, which come from the server's uids and clock. */
  refs(): string {
    const lines = this.git('for-each-ref', '--format=%(refname)').trim().split('\n')
    const texts = lines.map((ref) => {
      const paths = this.git('ls-tree', '-r', '--name-only', ref).trim().split('\n')
      return `${ref}\n${paths.map((path) => `== ${path}\n${this.git('show', `${ref}:${path}`)}`).join('')}`
    })
    texts.push(this.git('log', '--format=%B', '--first-parent', 'main'))
    return this.timeless(texts.join('\n'))
  }

  private plain(object: Manifest): string {
    const {
      metadata,
      spec,
      status: _status,
      ...rest
    } = object as unknown as {
      metadata: Record<string, unknown> & { managedFields?: { manager: string; time: string }[] }
      spec?: Record<string, unknown>
      status?: unknown
    }
    const {
      resourceVersion: _version,
      uid: _uid,
      creationTimestamp: _created,
      generation: _generation,
      managedFields,
      ...retained
    } = metadata
    const { clusterIP: _ip, clusterIPs: _ips, ...own } = spec ?? {}
    const managers = (managedFields ?? [])
      .map(({ time: _time, ...entry }) => JSON.stringify(entry))
      .sort()
    return this.timeless(
      JSON.stringify({ ...rest, metadata: retained, spec: own, managers }, undefined, 1),
    )
  }

  private timeless(text: string): string {
    return (
      text
        .replaceAll(this.namespace, '<namespace>')
        // A copy has the address that the server gave the Service.
        .replace(/\b10\.\d+\.\d+\.\d+\b/g, '<address>')
        .replace(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g, '<time>')
        .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uid>')
        .replace(
          /\b(\d{8}-)?([0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{16}|[0-9a-f]{12}|[0-9a-f]{8}|[0-9a-f]{7})\b/g,
          '<hash>',
        )
        // YAML quotes a hash that reads as a number.
        .replace(/"<hash>"/g, '<hash>')
        .replace(/closed\/\d{4}\/\d{2}\//g, 'closed/')
    )
  }

  /** The commit that a write names has to be on the base branch, with a record that says what is restored. */
  private check(write: Omit<LiveWrite, 'status'>): void {
    const commit = /commit ([0-9a-f]{40})/.exec(write.userAgent)?.[1] ?? ''
    const what = `${write.method} ${write.path} by ${write.userAgent}`
    try {
      this.git('merge-base', '--is-ancestor', commit, 'main')
      if (this.git('ls-tree', '-r', '--name-only', commit, '.drift/records/') === '')
        this.unauthorised.push(`${what}: no record`)
    } catch {
      this.unauthorised.push(`${what}: not merged`)
    }
  }

  private makeRepository(): void {
    const checkout = join(this.folder, 'checkout')
    mkdirSync(join(this.folder, 'home'), { recursive: true })
    const files = new Map([
      ['apps/web/Kptfile', 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: web\n'],
      ...MANIFESTS.map((object): [string, string] => [
        `apps/web/${object.kind}-${object.metadata.name}.yaml`,
        this.manifest(object),
      ]),
      ['apps/web/resourcegroup.yaml', this.manifest(this.inventory([]))],
      [
        '.drift/policy.yaml',
        'apiVersion: backporch.dev/v1alpha1\nkind: DriftPolicy\nmetadata: {name: default}\nspec: {mode: Propose, settle: backporch, detect: {minAge: 0s, settle: 0s}}\n',
      ],
    ])
    for (const [path, content] of files) {
      mkdirSync(dirname(join(checkout, path)), { recursive: true })
      writeFileSync(join(checkout, path), content)
    }
    const git = (...args: string[]): void => {
      execFileSync('git', args, { cwd: checkout, env: this.env, stdio: 'pipe' })
    }
    git('init', '--quiet', '--initial-branch=main')
    git('add', '--all')
    git('commit', '--quiet', '--message', 'web')
    execFileSync('git', ['clone', '--quiet', '--bare', checkout, this.repository], {
      env: this.env,
      stdio: 'pipe',
    })
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster: { server: this.proxy.url } }],
      users: [{ name: 'test', user: {} }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      'current-context': 'test',
    }
    writeFileSync(join(this.folder, 'kubeconfig'), JSON.stringify(kubeconfig))
    this.hook('pre-receive', 'before', 'exit 1')
    this.hook('post-receive', 'after', 'exit 0')
  }

  /** git calls it when the objects are there and no ref has moved, or when every ref has. */
  private hook(name: string, when: string, end: string): void {
    const path = join(this.repository, 'hooks', name)
    mkdirSync(dirname(path), { recursive: true })
    const marker = join(this.folder, `kill-${when}`)
    writeFileSync(
      path,
      `#!/bin/sh\ncat >/dev/null\nif [ -e '${marker}' ]; then\n  kill -KILL "$(cat '${join(this.folder, 'pid')}')"\n  ${end}\nfi\n`,
    )
    chmodSync(path, 0o755)
    assert.ok(existsSync(path))
  }

  private manifest(object: Manifest): string {
    return `${JSON.stringify({ ...object, metadata: { ...object.metadata, namespace: this.namespace } }, undefined, 2)}\n`
  }

  private inventory(names: readonly string[]): Manifest {
    return {
      ...INVENTORY,
      metadata: {
        name: 'web',
        labels: { 'cli-utils.sigs.k8s.io/inventory-id': `web-${this.namespace}` },
      } as { name: string },
      ...(names.length === 0
        ? {}
        : {
            spec: {
              resources: names.map((name) => ({
                group: '',
                kind: 'ConfigMap',
                namespace: this.namespace,
                name,
              })),
            },
          }),
    }
  }

  private async apply(): Promise<void> {
    for (const object of MANIFESTS) {
      const path = `${FOLDERS[object.kind]?.(this.namespace)}/${object.metadata.name}?fieldManager=${SYNCER}`
      await this.send('PATCH', path, object, 'application/apply-patch+yaml')
    }
    await this.send(
      'POST',
      FOLDERS['ConfigMap']?.(this.namespace) ?? '',
      config('leftover', { a: 'b' }),
    )
    await this.send(
      'POST',
      FOLDERS['ConfigMap']?.(this.namespace) ?? '',
      config('bystander', { a: 'b' }),
    )
    const groups = `/apis/kpt.dev/v1alpha1/namespaces/${this.namespace}/resourcegroups`
    await this.send('POST', groups, this.inventory(['settings', 'leftover']))
  }

  /** One of each kind: value, added and removed field, whole list items, a port, a deleted object; and what is not restored. */
  private async editByHand(): Promise<void> {
    const folder = (kind: string): string => FOLDERS[kind]?.(this.namespace) ?? ''
    const merge = (
      kind: string,
      name: string,
      patch: object,
      type = 'merge-patch',
    ): Promise<void> =>
      this.send(
        'PATCH',
        `${folder(kind)}/${name}?fieldManager=kubectl-patch`,
        patch,
        `application/${type}+json`,
      )
    await merge('ConfigMap', 'settings', { data: { timeout: '60', theme: null, more: 'yes' } })
    await merge('ConfigMap', 'adopted', { data: { color: 'red' } })
    await merge('ConfigMap', 'released', { data: { extra: 'yes' } })
    await merge('ConfigMap', 'bystander', { data: { a: 'c' } })
    await merge('Secret', 'login', { stringData: { password: 'changed by hand' } })
    await merge(
      'Service',
      'web',
      [{ op: 'replace', path: '/spec/ports/0/port', value: 8081 }],
      'json-patch',
    )
    const env = [
      { name: 'LEVEL', value: 'debug' },
      { name: 'TRACE', value: '1' },
      { name: 'CURRENCY', $patch: 'delete' },
    ]
    const containers = [{ name: 'app', env }]
    const spec = { jobTemplate: { spec: { template: { spec: { containers } } } } }
    await merge('CronJob', 'report', { spec }, 'strategic-merge-patch')
    await this.send('DELETE', `${folder('ConfigMap')}/doomed`)
  }

  private async send(
    method: string,
    path: string,
    body?: object,
    contentType = 'application/json',
  ): Promise<void> {
    const { status, body: answer } = await this.plane.request(
      method,
      path,
      body === undefined ? {} : { body, contentType },
    )
    assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(answer)}`)
  }
}

export function describe({ command, code, signal, stdout, stderr }: Ended): string {
  return `${command} ended with ${code ?? signal}\n--- stdout\n${stdout}\n--- stderr\n${stderr}`
}

export function assertEnded(ended: Ended, codes: readonly number[]): Ended {
  assert.ok(ended.code !== null && codes.includes(ended.code), describe(ended))
  return ended
}

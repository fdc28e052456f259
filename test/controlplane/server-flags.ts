import { join } from 'node:path'

/** How much of each request and answer the audit log holds; kube-apiserver's own words. */
export type AuditLevel = 'Metadata' | 'Request' | 'RequestResponse'

/** What the servers' command lines depend on. */
export interface ServerSetup {
  /** Holds the keys, certificates and data that the flags name. */
  readonly directory: string
  /** Of kube-apiserver, on 127.0.0.1. */
  readonly port: number
  readonly controllerManager: boolean
  readonly auditLevel: AuditLevel | undefined
  /** Appended: for a flag with one value the last wins, for a flag with a list they add up. */
  readonly apiServerFlags: readonly string[]
}

const NOBODY = 'http://127.0.0.1:1'

/** Files in a control plane's directory. */
export const FILES = {
  authority: 'ca.crt',
  servingCertificate: 'serving.crt',
  servingKey: 'serving.key',
  serviceAccountPrivateKey: 'service-account.key',
  serviceAccountPublicKey: 'service-account.pub',
  controllerManagerKubeconfig: 'kube-controller-manager.kubeconfig',
  adminKubeconfig: 'admin.kubeconfig',
  auditPolicy: 'audit-policy.json',
  auditLog: 'audit.log',
} as const

/**
 * etcd listens on sockets in the plane's directory, not on ports: a kube-apiserver can then never reach the etcd of
 * another plane that took its port, nor can another user of the machine reach this one.
 */
export function etcdFlags(setup: ServerSetup): readonly string[] {
  return [
    '--name=test',
    `--data-dir=${join(setup.directory, 'etcd')}`,
    `--listen-client-urls=${etcdUrl(setup)}`,
    `--listen-peer-urls=unix://${join(setup.directory, 'peer.sock')}`,
    // What is advertised must have a host and a port; nobody calls a single member under it.
    `--advertise-client-urls=${NOBODY}`,
    `--initial-advertise-peer-urls=${NOBODY}`,
    `--initial-cluster=test=${NOBODY}`,
    // The only member need not wait the default second for others before it elects itself.
    '--heartbeat-interval=10',
    '--election-timeout=100',
    // The data does not outlive the test, so nothing is lost by not waiting for the disk.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ]
}

export function apiServerFlags(setup: ServerSetup): readonly string[] {
  const file = (name: keyof typeof FILES) => join(setup.directory, FILES[name])
  return [
    `--etcd-servers=${etcdUrl(setup)}`,
    '--bind-address=127.0.0.1',
    // Without it the server looks for a default route, which a machine without a network does not have.
    '--advertise-address=127.0.0.1',
    // A loopback address is refused as endpoint of the `kubernetes` service, again and again, with an error each time.
    '--endpoint-reconciler-type=none',
    `--secure-port=${setup.port}`,
    `--cert-dir=${setup.directory}`,
    `--tls-cert-file=${file('servingCertificate')}`,
    `--tls-private-key-file=${file('servingKey')}`,
    `--client-ca-file=${file('authority')}`,
    '--authorization-mode=RBAC',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-signing-key-file=${file('serviceAccountPrivateKey')}`,
    `--service-account-key-file=${file('serviceAccountPublicKey')}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--allow-privileged=true',
    // Its admission refuses every pod until a controller has made the namespace's service account.
    ...(setup.controllerManager ? [] : ['--disable-admission-plugins=ServiceAccount']),
    ...auditFlags(setup),
    ...setup.apiServerFlags,
  ]
}

/** Short, because a socket's path may have no more than about 100 characters. */
function etcdUrl(setup: ServerSetup): string {
  return `unix://${join(setup.directory, 'etcd.sock')}`
}

function auditFlags(setup: ServerSetup): readonly string[] {
  if (setup.auditLevel === undefined) return []
  return [
    `--audit-policy-file=${join(setup.directory, FILES.auditPolicy)}`,
    `--audit-log-path=${join(setup.directory, FILES.auditLog)}`,
    // The event is in the file before the client has its answer, so that a test need not wait for it.
    '--audit-log-mode=blocking',
    // Megabytes. The server begins a new file after 100 of its own accord, and a test that reads the log finds half of its events.
    '--audit-log-maxsize=10000',
  ]
}

/** The policy that `auditFlags` names: one event for each finished request, watches included. */
export function auditPolicy(level: AuditLevel): unknown {
  const omitStages = ['RequestReceived']
  return { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages, rules: [{ level }] }
}

export function controllerManagerFlags(setup: ServerSetup): readonly string[] {
  const file = (name: keyof typeof FILES) => join(setup.directory, FILES[name])
  return [
    `--kubeconfig=${file('controllerManagerKubeconfig')}`,
    // Every controller under its own service account, as kubeadm sets it up: tests see the users a real cluster has.
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${file('serviceAccountPrivateKey')}`,
    `--root-ca-file=${file('authority')}`,
    '--leader-elect=false',
    // No port: nothing asks it for anything.
    '--secure-port=0',
    // The defaults, 20 and 30, make a busy test wait for the client's own rate limit.
    '--kube-api-qps=200',
    '--kube-api-burst=400',
  ]
}

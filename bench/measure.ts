/** Measures one run of a program: CPU of both sides, requests to the API server, and wall time. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import type { ControlPlane } from '../test/controlplane/control-plane.ts'

export interface Cost {
  /** Seconds. */
  readonly wall: number
  /** Seconds of CPU of the program and its children; NaN if the machine does not report it. */
  readonly clientCpu: number
  /** Seconds of CPU of kube-apiserver. */
  readonly serverCpu: number
  readonly requests: number
  /** Of the requests: dry runs. */
  readonly dryRuns: number
}

export interface Run {
  readonly cost: Cost
  readonly stdout: string
  readonly code: number
}

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Exit codes that are an answer. */
  readonly exitCodes: readonly number[]
}

/** Runs the commands in order and counts them as one. Rejects for any other exit code than an expected one. */
export async function measure(plane: ControlPlane, commands: readonly Command[]): Promise<Run> {
  const before = await serverState(plane)
  const cpuBefore = childrenCpu()
  const began = performance.now()
  const outputs: string[] = []
  let code = 0
  for (const command of commands) {
    const ended = await runOne(command)
    outputs.push(ended.stdout)
    code = Math.max(code, ended.code)
  }
  const wall = (performance.now() - began) / 1000
  const clientCpu = childrenCpu() - cpuBefore
  const after = await serverState(plane)
  return {
    code,
    stdout: outputs.join('\n'),
    cost: {
      wall,
      clientCpu,
      serverCpu: after.cpu - before.cpu,
      requests: after.requests - before.requests,
      dryRuns: after.dryRuns - before.dryRuns,
    },
  }
}

async function runOne({
  program,
  args,
  cwd,
  env,
  exitCodes,
}: Command): Promise<{ stdout: string; code: number }> {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? -1))
  })
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  if (!exitCodes.includes(code))
    throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${stderr.slice(0, 2000)}`)
  return { stdout, code }
}

interface ServerState {
  readonly cpu: number
  readonly requests: number
  readonly dryRuns: number
}

/** From the API server's metrics, without the server's own requests and without this one. */
export async function serverState(plane: ControlPlane): Promise<ServerState> {
  const { status, body } = await plane.request<string>('GET', '/metrics')
  if (status !== 200) throw new Error(`/metrics answered ${status}`)
  return readMetrics(body)
}

/** Kinds that kube-apiserver itself reads and writes continuously. */
const OWN_RESOURCES = new Set([
  'leases',
  'endpointslices',
  'endpoints',
  'ipaddresses',
  'servicecidrs',
  'flowschemas',
  'prioritylevelconfigurations',
])

/** @param metrics in the text format of Prometheus */
export function readMetrics(metrics: string): ServerState {
  let [cpu, requests, dryRuns] = [0, 0, 0]
  for (const line of metrics.split('\n')) {
    if (line.startsWith('process_cpu_seconds_total '))
      cpu = Number(line.slice(line.indexOf(' ') + 1))
    if (!line.startsWith('apiserver_request_total{')) continue
    const labels = new Map(
      [...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
    )
    if (
      OWN_RESOURCES.has(labels.get('resource') ?? '') ||
      labels.get('subresource') === '/metrics' ||
      labels.get('verb') === 'WATCH'
    )
      continue
    const count = Number(line.slice(line.lastIndexOf(' ') + 1))
    requests += count
    if (labels.get('dry_run') === 'All') dryRuns += count
  }
  return { cpu, requests, dryRuns }
}

/** Ticks per second of /proc, the same on every Linux that Node runs on (proc(5), sysconf(_SC_CLK_TCK)). */
const TICKS = 100

/** CPU seconds of all ended children; NaN without /proc. */
function childrenCpu(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[13]) + Number(fields[14])) / TICKS
  } catch {
    return Number.NaN
  }
}

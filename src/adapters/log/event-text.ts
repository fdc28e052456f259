import { Failure } from '@backporch/kyaml/failure'
import { formatLoggableText } from '@backporch/kyaml/redaction'
import type { LogLevel, ProcessEvent, Transition, TurnEvent } from '../../ports/log.ts'

/** Library messages may quote their input. */
export function convertToLoggableFailure({
  code,
  what,
  where,
  why,
  remedy,
  retry,
}: Failure): Failure {
  const location = where === undefined ? {} : { where: formatLoggableText(where) }
  return new Failure({
    code,
    what: formatLoggableText(what),
    ...location,
    why: formatLoggableText(why),
    remedy: formatLoggableText(remedy),
    retry,
  })
}

const PROCESS_LEVELS: { readonly [event in ProcessEvent['event']]?: LogLevel } = {
  refused: 'warn',
  slow: 'warn',
  step: 'debug',
  judged: 'debug',
}

export function getLevel(event: Transition | ProcessEvent): LogLevel {
  if ('event' in event) return PROCESS_LEVELS[event.event] ?? 'info'
  return event.outcome === 'not-settled' ? 'warn' : 'info'
}

export function formatTransition({
  outcome,
  cluster,
  package: name,
  branch,
  proposal,
  url,
  detail,
}: Transition): string {
  if (detail !== undefined) return detail
  const location =
    proposal === undefined ? branch : [proposal, url].filter((text) => text !== undefined).join(' ')
  return `${outcome.replaceAll('-', ' ')} ${name} in ${cluster}${location === undefined ? '' : ` (${location})`}`
}

export function turnText({
  outcome,
  units,
  failedUnits,
  failedClusters,
  writes,
  plan,
  milliseconds,
}: TurnEvent): string {
  const failed = [
    ...(failedUnits === 0 ? [] : [count(failedUnits, 'failed package')]),
    ...(failedClusters === 0
      ? []
      : [
          count(failedClusters, 'cluster that was not observed', 'clusters that were not observed'),
        ]),
  ]
  const parts = [
    count(units, 'package'),
    ...failed,
    `${count(writes, 'write')}${plan === undefined ? '' : ' planned'}`,
  ]
  return `turn ${outcome} in ${(milliseconds / 1000).toFixed(1)} s: ${parts.join(', ')}`
}

export function processText(event: ProcessEvent): string {
  switch (event.event) {
    case 'started':
      return `git and the forge are polled every ${event.intervalSeconds}s${event.dryRun ? '; this is a dry run, nothing is written' : ''}`
    case 'listening':
      return `listening for ${event.for} at ${event.url}`
    case 'refused':
      return `${event.what} ${event.what === 'audit events' ? 'were' : 'was'} refused: ${event.why}`
    case 'answered': {
      const by = event.by === undefined ? '' : ` of ${event.by}`
      return `${event.proposal} ${event.command}${by}: ${event.outcome}${event.failure === undefined ? '' : `: ${formatLoggableText(event.failure.message)}`}`
    }
    case 'previewed':
      return event.outcome === 'written'
        ? `wrote the preview of ${event.proposal}`
        : `${event.proposal} has a new head: it is previewed again`
    case 'step':
      return event.step
    case 'slow':
      return `the turn still runs after ${event.milliseconds / 1000} s: ${event.step}`
    case 'judged':
      return `a change in ${event.cluster} was judged in ${event.milliseconds} ms: ${event.verdict}`
    case 'watch':
      return event.why === undefined
        ? `changes of ${event.cluster} are watched`
        : `changes of ${event.cluster} are not watched: ${event.why}`
    case 'configured':
      return `the configuration changed: ${count(event.added, 'repository', 'repositories')} added, ${event.changed} changed, ${event.removed} removed`
    case 'reloading':
      return 'configuration and credentials are read again'
    case 'stopping':
      return 'stopping when the running turn is done; interrupt again to stop at once'
    case 'stopped':
      return 'stopped'
  }
}

function count(number: number, noun: string, many = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : many}`
}

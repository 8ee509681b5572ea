import { Controller, Get, Headers, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { MusterError } from '#contracts';
import { ServiceContext } from '#service';
import { Allow } from '../auth/roles.js';
import { EventQuery } from '../queries/queries.js';
import { EventFeed } from './event-feed.js';
import { EventHistory } from './event-history.js';
import { toSelection } from './event-selection.js';

@ApiTags('events')
@Controller('v1/events')
export class EventsController {
  constructor(
    private readonly history: EventHistory,
    private readonly context: ServiceContext,
  ) {}

  @Get()
  @ApiProduces('application/json', 'text/event-stream')
  @ApiHeader({ name: 'Last-Event-ID', required: false, description: 'resume behind this event' })
  @Allow(
    'viewer',
    'Events: a list, newest first, or with `Accept: text/event-stream` a stream',
    'The stream resumes behind `Last-Event-ID`; each event carries its sequence as `id`.',
  )
  async events(
    @Query() query: EventQuery,
    @Headers('accept') accept: string | undefined,
    @Headers('last-event-id') last: string | undefined,
    @Res() reply: FastifyReply,
  ) {
    const selection = toSelection(query);
    if (accept?.includes('text/event-stream') !== true)
      return reply.send(await this.history.newestFirst(selection, query.limit));
    if (last !== undefined && !/^\d{1,15}$/.test(last))
      throw new MusterError('BAD_REQUEST', 'Last-Event-ID is the id of an event: a number');
    const feed = new EventFeed(this.context.bus, selection, last === undefined ? undefined : Number(last));
    return reply.type('text/event-stream').header('cache-control', 'no-store').send(feed);
  }
}

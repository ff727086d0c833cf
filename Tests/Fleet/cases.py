"""What happens to a fleet, one case a function: each yields control while clients ask, and undoes what it did."""

import random
import shutil
import time


def kill_a_node(world):
    """kill -9 of a node, which is started again"""
    world.nodes[1].kill()
    world.clients(5)
    world.nodes[1].start()


def kill_redis(world):
    """kill -9 of Redis, which comes back empty after ten seconds"""
    world.redis.kill()
    world.clients(10)
    world.redis.start()


def restore_old_snapshot(world):
    """Redis is replaced by itself of fifteen seconds ago"""
    world.redis.ask("SAVE")
    shutil.copy(world.redis.directory / "dump.rdb", world.redis.directory / "old.rdb")
    world.clients(15)
    world.redis.kill()
    shutil.copy(world.redis.directory / "old.rdb", world.redis.directory / "dump.rdb")
    world.redis.start()
    (world.redis.directory / "dump.rdb").unlink()


def silence_redis(world):
    """packets between Redis and every node are dropped for ten seconds"""
    for node in world.nodes:
        node.place.cut_from(world.redis.place)
    world.clients(10)
    for node in world.nodes:
        node.place.mend(world.redis.place)


def cut_one_node(world):
    """packets between Redis and one node are dropped for ten seconds"""
    world.nodes[2].place.cut_from(world.redis.place)
    world.clients(10)
    world.nodes[2].place.mend(world.redis.place)


def fill_memory(world):
    """Redis has no memory left and evicts nothing, for ten seconds"""
    world.redis.ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
    world.redis.ask("CONFIG", "SET", "maxmemory", "1mb")
    world.clients(10)
    world.redis.ask("CONFIG", "SET", "maxmemory", "256mb")
    world.redis.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")


def flush(world):
    """FLUSHALL"""
    world.redis.ask("FLUSHALL")


def corrupt_values(world):
    """every stored version has wrong bytes in it, or is cut short"""
    chance = random.Random(4)
    for key in world.redis.versions():
        length = int(world.redis.ask("STRLEN", key))
        if length == 0:
            # A node has removed it since the keys were listed.
            continue
        if chance.random() < 0.5:
            world.redis.ask("SETRANGE", key, chance.randrange(length), "nonsense")
        else:
            shorten = "redis.call('SET', KEYS[1], redis.call('GETRANGE', KEYS[1], 0, ARGV[1]))"
            world.redis.ask("EVAL", shorten, 1, key, length // 2)


def write_nonsense(world):
    """another program writes into the streams, and there are keys of a schema to come"""
    for stream in [key for key in world.redis.ask("--scan", "--type", "stream").split()]:
        for words in [("v", "nonsense"), ("x", "1"), ("v", "A" * 4000), ("h", "\\x00\\xff"), ("l", "")]:
            world.redis.ask("XADD", stream, "*", *words)
        future = stream.replace(":1:", ":9:")
        world.redis.ask("XADD", future, "*", "v", "unknown")
        # The wrong type under a name that a node will use.
    world.redis.ask("SET", "dictum:9:v:chain:digest", "unknown")


CASES = [
    kill_a_node, kill_redis, restore_old_snapshot, silence_redis, cut_one_node, fill_memory, flush, corrupt_values,
    write_nonsense,
]
